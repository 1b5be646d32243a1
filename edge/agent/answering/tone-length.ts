import type { Tonality } from './tone-detector.ts';

const frameMs = 20;
/** Tone length after which a sound is not a voice, ms: vowels are shorter, or change pitch. */
const toneMs = 200;
/** Hz by which the strongest partial of a tone may jump: with two tones it alternates between them. */
const samePitchHz = 200;

/** Follows a tone, in 20 ms frames. */
export class ToneLength {
  #ms = 0;
  #pitchHz = 0;

  /** @returns whether it is too long for a voice */
  write(tonality: Tonality, pitchHz: number): boolean {
    const tonal = tonality !== 'none';
    const goesOn = tonal && Math.abs(pitchHz - this.#pitchHz) <= samePitchHz;
    this.#ms = goesOn ? this.#ms + frameMs : tonal ? frameMs : 0;
    this.#pitchHz = pitchHz;
    return this.#ms >= toneMs;
  }
}
