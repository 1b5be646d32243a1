/** Hands pieces from events to one reader, in order. */
export class PieceStream<T> implements AsyncIterable<T> {
  readonly #pieces: T[] = [];
  #over = false;
  #error: Error | null = null;
  #arrived = Promise.withResolvers<void>();

  push(piece: T): void {
    this.#pieces.push(piece);
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#wake();
  }

  /** @throws the error of `fail`, after the pieces before it */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#pieces.shift();
      if (next !== undefined) yield next;
      else if (this.#error !== null) throw this.#error;
      else if (this.#over) return;
      else await this.#arrived.promise;
    }
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}
