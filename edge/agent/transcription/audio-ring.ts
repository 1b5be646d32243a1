/**
 * The caller's latest audio by position: the number of samples since the call began. What a provider has not
 * transcribed yet can be sent again, to it or to another one.
 */

/** Samples of a new buffer: half a second at 8 kHz. */
const firstSamples = 4096;

export class AudioRing {
  readonly #maxSamples: number;
  #buffer = new Int16Array(0);
  /** Index of the oldest sample in the buffer. */
  #start = 0;
  /** Position of the oldest sample. */
  #oldest = 0;
  #length = 0;

  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Position of the oldest sample kept. */
  get oldest(): number {
    return this.#oldest;
  }

  /** Position after the newest sample. */
  get end(): number {
    return this.#oldest + this.#length;
  }

  /** Appends a frame. @returns how many of the oldest samples were lost to make room */
  append(frame: Int16Array): number {
    const lost = Math.max(0, this.#length + frame.length - this.#maxSamples);
    this.drop(this.#oldest + lost);
    if (this.#start + this.#length + frame.length > this.#buffer.length) this.#makeRoom(frame.length);
    this.#buffer.set(frame, this.#start + this.#length);
    this.#length += frame.length;
    return lost;
  }

  /** The samples from `position`; a view that is valid until the next change. */
  read(position: number, samples: number): Int16Array {
    const from = this.#start + position - this.#oldest;
    return this.#buffer.subarray(from, from + samples);
  }

  /** Forgets what is before `position`. */
  drop(position: number): void {
    const count = Math.min(this.#length, position - this.#oldest);
    if (count <= 0) return;
    this.#start += count;
    this.#oldest += count;
    this.#length -= count;
  }

  #makeRoom(samples: number): void {
    const needed = this.#length + samples;
    const size = this.#buffer.length;
    // Half of the buffer stays free after a move, so that it does not move at each frame.
    if (2 * needed <= size && size <= Math.max(firstSamples, 16 * needed)) {
      this.#buffer.copyWithin(0, this.#start, this.#start + this.#length);
    } else {
      const buffer = new Int16Array(Math.max(firstSamples, Math.min(4 * needed, 2 * this.#maxSamples)));
      buffer.set(this.#buffer.subarray(this.#start, this.#start + this.#length));
      this.#buffer = buffer;
    }
    this.#start = 0;
  }
}
