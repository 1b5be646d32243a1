/** Measures how long somebody has been speaking, in 20 ms frames: not noise, and not the tones of a network. */
import type { Tonality } from './tone-ear.ts';

const frameMs = 20;
/** RMS below which nothing is a voice, and the factor by which a voice exceeds the noise floor. */
export const quietest = 200;
const aboveFloor = 3;
/** Share of the way that the noise floor rises in a frame: slow, so that speech does not lift it. */
const floorRise = 0.005;
/** ms of tone after which a sound is no voice: vowels are shorter, or change their pitch. */
const toneMs = 200;
/** Hz by which the strongest partial of a tone may jump: that of two tones changes from one to the other. */
const samePitchHz = 200;
/** Weight of a frame in the level of a sound. */
const smoothing = 0.1;
/** A voice ends by falling below this share of its level. What stays above is noise that the floor has reached. */
const fallsTo = 0.5;

export class VoiceMeter {
  #floor = quietest;
  /** Of the sound that goes on now. */
  #level = 0;
  #soundMs = 0;
  #toneMs = 0;
  #pitchHz = 0;
  #voiceMs = 0;
  #quietMs = 0;

  /** ms of voice so far. Falls when a sound that was taken for a voice turns out to be none. */
  get voiceMs(): number {
    return this.#voiceMs;
  }

  /** ms since the last sound; tones count as sound. */
  get quietMs(): number {
    return this.#quietMs;
  }

  /** Forgets the voice so far. */
  reset(): void {
    this.#voiceMs = 0;
    this.#soundMs = 0;
  }

  /** @param level RMS of the frame */
  write(level: number, tonality: Tonality, pitchHz: number): void {
    const loud = level > Math.max(quietest, this.#floor * aboveFloor);
    this.#floor = level < this.#floor ? level : this.#floor + (level - this.#floor) * floorRise;
    this.#followTone(tonality !== 'none', pitchHz);
    if (this.#toneMs >= toneMs) {
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

  #followTone(tonal: boolean, pitchHz: number): void {
    const goesOn = tonal && Math.abs(pitchHz - this.#pitchHz) <= samePitchHz;
    this.#toneMs = goesOn ? this.#toneMs + frameMs : tonal ? frameMs : 0;
    this.#pitchHz = pitchHz;
  }

  /** The sound that goes on now is no voice. */
  #takeBack(): void {
    this.#voiceMs -= this.#soundMs;
    this.#soundMs = 0;
  }
}
