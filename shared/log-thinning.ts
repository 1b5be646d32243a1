/**
 * Thins out log lines that a peer could cause without end: one a minute and source, with how many were left out, and
 * no more than so many a minute of all sources. Pure.
 */
import { hostKey } from './networks.ts';

interface Told {
  at: number;
  /** Occurrences since then that were not told. */
  silent: number;
}

const everyMs = 60_000;
/** Sources remembered; beyond that all of them are told anew. */
const maxSources = 10_000;
/** Lines in a minute of all sources together: a flood from many addresses must not fill a disk. */
const maxLines = 600;

export class LogThinning {
  readonly #told = new Map<string, Told>();
  #minuteBegan = Number.NEGATIVE_INFINITY;
  #lines = 0;
  /** Occurrences of all sources that were left out because there were too many lines. */
  #over = 0;

  /**
   * @param address of the source; with IPv6, those of one /64 are one source
   * @param now milliseconds of the clock's elapsed time
   * @returns how many occurrences of `source` were left out since the last line, and of sources that had no line of
   *   their own; null: this one is left out too
   */
  tell(address: string, now: number): { readonly leftOut: number } | null {
    const source = hostKey(address);
    const last = this.#told.get(source);
    if (last && now - last.at < everyMs) {
      last.silent += 1;
      return null;
    }
    if (now - this.#minuteBegan >= everyMs) {
      this.#minuteBegan = now;
      this.#lines = 0;
    }
    if (this.#lines >= maxLines) {
      this.#over += 1;
      return null;
    }
    this.#lines += 1;
    if (!last && this.#told.size >= maxSources) this.#told.clear();
    this.#told.set(source, { at: now, silent: 0 });
    const leftOut = (last?.silent ?? 0) + this.#over;
    this.#over = 0;
    return { leftOut };
  }
}
