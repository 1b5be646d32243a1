/** Measures by loudness how long somebody has been speaking, in 20 ms frames; ignores noise and network tones. */
import type { Tonality } from './tone-detector.ts';
import { ToneLength } from './tone-length.ts';

const frameMs = 20;
/** Minimum RMS of a voice, and the factor by which a voice exceeds the noise floor. */
export const quietest = 200;
const aboveFloor = 3;
/** Fraction of the distance by which the noise floor rises per frame: slow, so that speech does not raise it. */
const floorRise = 0.005;
/** Weight of a frame in the smoothed level of a sound. */
const smoothing = 0.1;
/** A voice ends when it falls below this share of its level. Sound that stays above it is noise. */
const fallsTo = 0.5;

export class VoiceMeter {
  #floor = quietest;
  /** Of the current sound. */
  #level = 0;
  #soundMs = 0;
  readonly #tone = new ToneLength();
  #voiceMs = 0;
  #quietMs = 0;

  /** ms of voice so far. Decreases when a sound taken for a voice turns out not to be one. */
  get voiceMs(): number {
    return this.#voiceMs;
  }

  /** ms since the last sound; tones count as sound. */
  get quietMs(): number {
    return this.#quietMs;
  }

  /** Resets the voice time. */
  reset(): void {
    this.#voiceMs = 0;
    this.#soundMs = 0;
  }

  /** @param level RMS of the frame */
  write(level: number, tonality: Tonality, pitchHz: number): void {
    const loud = level > Math.max(quietest, this.#floor * aboveFloor);
    this.#floor = level < this.#floor ? level : this.#floor + (level - this.#floor) * floorRise;
    if (this.#tone.write(tonality, pitchHz)) {
      this.#takeBack();
      this.#quietMs = 0;
    } else if (loud) {
      this.#level = this.#soundMs === 0 ? level : this.#level + (level - this.#level) * smoothing;
      this.#soundMs += frameMs;
      this.#voiceMs += frameMs;
      this.#quietMs = 0;
    } else {
      if (level > this.#level * fallsTo) this.#takeBack();
      this.#soundMs = 0;
      this.#quietMs += frameMs;
    }
  }

  /** The current sound is not a voice. */
  #takeBack(): void {
    this.#voiceMs -= this.#soundMs;
    this.#soundMs = 0;
  }
}
