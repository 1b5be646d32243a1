/** Progress of one long step: a rewritten line on a terminal, one line per tenth elsewhere. */
export class Progress {
  readonly #label: string;
  readonly #out: NodeJS.WriteStream;
  readonly #startedAt = Date.now();
  #lastShown = -1;

  constructor(label: string, out: NodeJS.WriteStream = process.stdout) {
    this.#label = label;
    this.#out = out;
  }

  update(done: number, total: number): void {
    const percent = Math.floor((100 * done) / total);
    const shown = this.#out.isTTY ? percent : percent - (percent % 10);
    if (shown === this.#lastShown) return;
    this.#lastShown = shown;
    const text = `${this.#label}: ${percent} %${this.#remaining(done, total)}`;
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Ends the rewritten line. */
  end(): void {
    if (this.#out.isTTY && this.#lastShown >= 0) this.#out.write('\r\x1b[K');
  }

  #remaining(done: number, total: number): string {
    const elapsed = (Date.now() - this.#startedAt) / 1000;
    // The first steps say nothing about the speed.
    if (elapsed < 3 || done === total || done * 20 < total) return '';
    const seconds = (elapsed / done) * (total - done);
    return seconds < 60
      ? `, about ${Math.ceil(seconds)} s left`
      : `, about ${Math.ceil(seconds / 60)} min left`;
  }
}
