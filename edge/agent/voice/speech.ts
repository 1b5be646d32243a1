/** Speech that is being made: its pieces in order, from the first on, while the rest is made. */
export class Speech {
  readonly #pieces: Int16Array[] = [];
  readonly #cancel = new AbortController();
  #over = false;
  #error: unknown = null;
  #arrived = Promise.withResolvers<void>();

  /** @param make yields the pieces; its signal is aborted by `cancel` */
  constructor(make: (signal: AbortSignal) => AsyncIterable<Int16Array>) {
    void this.#read(make);
  }

  /** Resolves when there is sound to play, or none to come. @throws what text-to-speech throws */
  async ready(): Promise<void> {
    while (this.#pieces.length === 0 && !this.#over) await this.#arrived.promise;
    if (this.#pieces.length === 0 && this.#error !== null) throw this.#error;
  }

  /** @throws what text-to-speech throws, after the pieces before it */
  async *pieces(): AsyncGenerator<Int16Array> {
    for (let next = 0; ; ) {
      const piece = this.#pieces[next];
      if (piece) {
        next++;
        yield piece;
      } else if (!this.#over) await this.#arrived.promise;
      else if (this.#error !== null) throw this.#error;
      else return;
    }
  }

  /** Nobody wants the rest. */
  cancel(): void {
    this.#cancel.abort(new Error('the speech is not wanted any more'));
  }

  async #read(make: (signal: AbortSignal) => AsyncIterable<Int16Array>): Promise<void> {
    try {
      for await (const piece of make(this.#cancel.signal)) {
        if (piece.length > 0) this.#pieces.push(piece);
        this.#wake();
      }
    } catch (error) {
      this.#error = error;
    }
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}
