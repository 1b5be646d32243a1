/** The mean level of what passes in one direction, in dBov (RFC 6464): decibels below a square wave of full scale. */

/** Level of digital silence; RFC 6464 has no lower one. */
const silentDbov = -127;
const fullScale = 32_768;

export class LevelMeter {
  #squares = 0;
  #samples = 0;

  add(frame: Int16Array): void {
    let squares = 0;
    for (let i = 0; i < frame.length; i++) {
      const sample = frame[i] ?? 0;
      squares += sample * sample;
    }
    this.#squares += squares;
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
    const level = squares === 0 ? silentDbov : 10 * Math.log10(squares / samples / fullScale ** 2);
    return Math.round(Math.max(silentDbov, level) * 10) / 10;
  }
}
