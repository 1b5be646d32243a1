/** Thins out log lines that a peer could cause without end: one a minute and source, with how many were left out. */
interface Told {
  at: number;
  /** Occurrences since then that were not told. */
  silent: number;
}

const everyMs = 60_000;
/** Sources remembered; beyond that all of them are told anew. */
const maxSources = 10_000;

export class LogThinning {
  readonly #told = new Map<string, Told>();

  /**
   * @param now milliseconds
   * @returns how many occurrences of `source` were left out since the last line; null: this one is left out too
   */
  tell(source: string, now: number): { readonly leftOut: number } | null {
    const last = this.#told.get(source);
    if (last && Math.abs(now - last.at) < everyMs) {
      last.silent += 1;
      return null;
    }
    if (!last && this.#told.size >= maxSources) this.#told.clear();
    this.#told.set(source, { at: now, silent: 0 });
    return { leftOut: last?.silent ?? 0 };
  }
}
