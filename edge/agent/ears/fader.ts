/** The volume of 16-bit sound. Changes take 10 ms, because a step is a click. */
export class Fader {
  readonly #step: number;
  #gain = 1;
  #target = 1;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#step = 100 / sampleRate;
  }

  /** Goes from the current volume to this one. */
  to(gain: number): void {
    this.#target = gain;
  }

  /** Starts from this volume. */
  from(gain: number): void {
    this.#gain = gain;
  }

  apply(frame: Int16Array): void {
    if (this.#gain === 1 && this.#target === 1) return;
    for (let i = 0; i < frame.length; i++) {
      const left = this.#target - this.#gain;
      this.#gain = Math.abs(left) <= this.#step ? this.#target : this.#gain + Math.sign(left) * this.#step;
      frame[i] = Math.round((frame[i] ?? 0) * this.#gain);
    }
  }
}
