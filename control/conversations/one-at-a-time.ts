/** Work on one thing is done in order of arrival; work on others goes on beside it. */
export class OneAtATime {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` when all that was given before under the same key has ended, however it ended. */
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
