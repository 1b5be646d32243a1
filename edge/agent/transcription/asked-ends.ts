/**
 * Ends of turns that a provider was asked for, by the time of the audio on its connection. It may ignore one, because it
 * has heard no words since the last, and its next message about later audio tells that.
 */
/** The turns that wait for their words are no more. */
const mostAsked = 16;
/** A message about audio that is no longer than this after an end may have crossed with what asked for it, ms. */
const crossingMs = 20;

export class AskedEnds {
  readonly #sampleRate: number;
  #samples = 0;
  /** In samples, oldest first. */
  readonly #asked: number[] = [];

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  sent(samples: number): void {
    this.#samples += samples;
  }

  /** An end is asked for after what was sent. */
  ask(): void {
    // One that is never told of is of no interest when the next ones are.
    if (this.#asked.length === mostAsked) this.#asked.shift();
    this.#asked.push(this.#samples);
  }

  /**
   * The server tells of audio up to `throughMs` as if it had not been asked.
   * @returns as {@link reached}, for what it must have been asked before
   */
  passed(throughMs: number): number | null {
    return this.reached(throughMs - crossingMs);
  }

  /** Forgets the ends up to `throughMs`. @returns the latest of them in ms; null: there was none */
  reached(throughMs: number): number | null {
    let latest: number | null = null;
    for (let [next] = this.#asked; next !== undefined && this.#ms(next) <= throughMs; [next] = this.#asked) {
      latest = this.#ms(next);
      this.#asked.shift();
    }
    return latest;
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.#sampleRate;
  }
}
