/** Reads a sequence ahead of its consumer, at its own pace; one reader. */
export class ReadAhead<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #over = false;
  #error: unknown = null;
  #arrived = Promise.withResolvers<void>();

  /** @param seen called for each item when it arrives */
  constructor(source: AsyncIterable<T>, seen: (item: T) => void) {
    void this.#read(source, seen);
  }

  /** The first matching item; it stays in the sequence. Undefined when there is none. @throws the source's error */
  async find(fits: (item: T) => boolean): Promise<T | undefined> {
    for (;;) {
      const found = this.#items.find(fits);
      if (found !== undefined || this.#over) return found;
      if (this.#error !== null) throw this.#error;
      await this.#arrived.promise;
    }
  }

  /** @throws the source's error, after the items before it */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#items.shift();
      if (next !== undefined) yield next;
      else if (this.#over) return;
      else if (this.#error !== null) throw this.#error;
      else await this.#arrived.promise;
    }
  }

  async #read(source: AsyncIterable<T>, seen: (item: T) => void): Promise<void> {
    try {
      for await (const item of source) {
        seen(item);
        this.#items.push(item);
        this.#wake();
      }
      this.#over = true;
    } catch (error) {
      this.#error = error;
    }
    this.#wake();
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}
