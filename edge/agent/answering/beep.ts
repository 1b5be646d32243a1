import type { Tonality } from './tone-detector.ts';

const frameMs = 20;
/** Shortest beep, ms: one of 300 ms without the frames at its edges. */
const shortestMs = 260;
/** Consecutive frames that may be missing from a beep: a lost packet does not end it. */
const gap = 2;
/** Frequency range of voicemail beeps, Hz. */
const lowestHz = 350;
const highestHz = 2200;
/** Apparent drift of a steady tone between measurement bins, Hz. */
const driftHz = 50;

/** Follows one steady tone at a time, in 20 ms frames. */
export class BeepFollower {
  #ms = 0;
  #pitchHz = 0;
  #missing = 0;
  #heard = 0;

  /** Whether a beep is in progress. */
  get beeping(): boolean {
    return this.#ms >= shortestMs;
  }

  /** Number of finished beeps. */
  get heard(): number {
    return this.#heard;
  }

  write(tonality: Tonality, pitchHz: number): void {
    const tone = tonality === 'single' && pitchHz >= lowestHz && pitchHz <= highestHz;
    if (tone && this.#ms > 0 && Math.abs(pitchHz - this.#pitchHz) <= driftHz) {
      this.#ms += frameMs * (1 + this.#missing);
      this.#missing = 0;
      return;
    }
    if (this.#ms > 0 && ++this.#missing <= gap) return;
    if (this.beeping) this.#heard++;
    this.#ms = tone ? frameMs : 0;
    this.#pitchHz = pitchHz;
    this.#missing = 0;
  }
}
