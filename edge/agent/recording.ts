/** Audio that is kept until somebody takes it. Its buffer grows with what it holds: most calls never need the longest. */

/** Samples of a new buffer: the lead and the onset of an utterance at 8 kHz. */
const firstSamples = 2560;

export class Recording {
  readonly #maxSamples: number;
  #buffer = new Int16Array(0);
  #length = 0;

  /** @param maxSamples the most that is kept */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Samples kept. */
  get length(): number {
    return this.#length;
  }

  /** Appends a frame. @returns false, with nothing appended, when there is no room for it */
  append(frame: Int16Array): boolean {
    const length = this.#length + frame.length;
    if (length > this.#maxSamples) return false;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(frame, this.#length);
    this.#length = length;
    return true;
  }

  /** Forgets the oldest samples. */
  drop(samples: number): void {
    this.#buffer.copyWithin(0, samples, this.#length);
    this.#length = Math.max(0, this.#length - samples);
  }

  /** A copy of everything kept. */
  copy(): Int16Array {
    return this.#buffer.slice(0, this.#length);
  }

  /** Returns everything kept, which its caller owns, and starts over. */
  take(): Int16Array {
    const taken = this.copy();
    this.clear();
    return taken;
  }

  /** Starts over with a small buffer. */
  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > firstSamples) this.#buffer = new Int16Array(0);
  }

  #grow(needed: number): void {
    const samples = Math.min(this.#maxSamples, Math.max(firstSamples, needed, 2 * this.#buffer.length));
    const buffer = new Int16Array(samples);
    buffer.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = buffer;
  }
}
