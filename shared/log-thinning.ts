/**
 * Limits log lines that peers can cause endlessly: one per minute and source, with the number suppressed, and a maximum
 * per minute for all sources. Pure.
 */
import { hostKey } from './networks.ts';

interface LoggedSource {
  at: number;
  /** Occurrences since then that were not logged. */
  silent: number;
}

const everyMs = 60_000;
/** Maximum sources remembered; beyond it all are forgotten. */
const maxSources = 10_000;
/** Maximum lines per minute for all sources: a flood from many addresses must not fill a disk. */
const maxLines = 600;

export class LogThinning {
  readonly #logged = new Map<string, LoggedSource>();
  #minuteBegan = Number.NEGATIVE_INFINITY;
  #lines = 0;
  /** Suppressed occurrences of all sources, because of the common limit. */
  #over = 0;

  /**
   * @param address of the source; IPv6 addresses of one /64 are one source
   * @param now milliseconds of the clock's elapsed time
   * @returns suppressed occurrences since the last line, of this source and of sources without their own line;
   *   null: this one is suppressed too
   */
  next(address: string, now: number): { readonly leftOut: number } | null {
    const source = hostKey(address);
    const last = this.#logged.get(source);
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
    if (!last && this.#logged.size >= maxSources) this.#logged.clear();
    this.#logged.set(source, { at: now, silent: 0 });
    const leftOut = (last?.silent ?? 0) + this.#over;
    this.#over = 0;
    return { leftOut };
  }
}
