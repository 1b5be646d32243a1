/** Runs work on one key in order of arrival; different keys run in parallel. */
export class OneAtATime {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` after all earlier work with the same key has ended, even if it failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const tail = result.catch(() => undefined);
    this.#tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
