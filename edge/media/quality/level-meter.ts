/** The mean level of what passes in one direction, in dBov (RFC 6464): decibels below a square wave of full scale. */

import { dbovOf, squaresOf } from '#shared/level.ts';

export class LevelMeter {
  #squares = 0;
  #samples = 0;

  add(frame: Int16Array): void {
    this.#squares += squaresOf(frame);
    this.#samples += frame.length;
  }

  /** A frame of silence. */
  silence(samples: number): void {
    this.#samples += samples;
  }

  /** The level since the last call, one decimal; null when nothing passed. */
  take(): number | null {
    const samples = this.#samples;
    const squares = this.#squares;
    this.#samples = 0;
    this.#squares = 0;
    if (samples === 0) return null;
    return Math.round(dbovOf(squares, samples) * 10) / 10;
  }
}
