import type { Tonality } from './tone-ear.ts';

const frameMs = 20;
/** What a beep of 300 ms leaves when the frames at its edges are taken off, ms. */
const shortestMs = 260;
/** Frames in a row that a beep may lack: a lost packet is no end of it. */
const gap = 2;
/** Hz between which mailboxes beep. */
const lowestHz = 350;
const highestHz = 2200;
/** Hz by which a steady tone may seem to move between the bins of its measurement. */
const driftHz = 50;

/** Follows one steady tone at a time, in 20 ms frames. */
export class BeepFollower {
  #ms = 0;
  #pitchHz = 0;
  #missing = 0;
  #heard = 0;

  /** Whether a beep goes on. */
  get beeping(): boolean {
    return this.#ms >= shortestMs;
  }

  /** Beeps that are over. */
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
