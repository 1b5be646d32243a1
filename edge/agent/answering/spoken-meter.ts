/** Measures how long somebody has been speaking, by the judgements of a voice detector, which knows noise and music. */
import type { Tonality } from './tone-detector.ts';
import { ToneLength } from './tone-length.ts';

/** Probability from which a piece is a voice, and with which a voice goes on: parts of music are 0.4 to 0.6. */
const starts = 0.7;
const stays = 0.35;
/** Time after the last piece in which a word ends softly, ms. */
const endsMs = 100;

export class SpokenMeter {
  readonly #tone = new ToneLength();
  #isTone = false;
  /** Of the current sound. */
  #soundMs = 0;
  #voiceMs = 0;
  #quietMs = 0;

  /** ms of voice so far. Decreases when a sound taken for a voice turns out to be a tone. */
  get voiceMs(): number {
    return this.#voiceMs;
  }

  /** ms since the last voice; tones count as sound. */
  get quietMs(): number {
    return Math.max(0, this.#quietMs - endsMs);
  }

  /** Resets the voice time. */
  reset(): void {
    this.#voiceMs = 0;
    this.#soundMs = 0;
  }

  /** Takes what a frame of 20 ms has of tones. */
  write(tonality: Tonality, pitchHz: number): void {
    this.#isTone = this.#tone.write(tonality, pitchHz);
    if (!this.#isTone) return;
    this.#voiceMs -= this.#soundMs;
    this.#soundMs = 0;
    this.#quietMs = 0;
  }

  /** Takes the judgement of the next piece of sound. */
  judged(ms: number, probability: number): void {
    if (this.#isTone) return;
    if (probability >= (this.#soundMs > 0 ? stays : starts)) {
      this.#soundMs += ms;
      this.#voiceMs += ms;
      this.#quietMs = 0;
    } else {
      this.#soundMs = 0;
      this.#quietMs += ms;
    }
  }
}
