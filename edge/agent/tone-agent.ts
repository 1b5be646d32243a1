import type { AgentLeg } from '../call/ports/agents.ts';

/** A quarter of full scale: about -12 dBFS. */
const amplitude = 8191;

/** Plays an endless sine wave, for line checks and measurements. */
export class ToneAgent implements AgentLeg {
  readonly sampleRate: 8000 | 16000;
  readonly #frequency: number;
  #periods: Int16Array = new Int16Array(0);
  #at = 0;

  /** @param frequency Hz, between 0 and 8000; rounded to 0.1 Hz */
  constructor(frequency: number) {
    this.#frequency = Math.round(frequency * 10) / 10;
    this.sampleRate = frequency < 3800 ? 8000 : 16000;
  }

  async prepare(): Promise<void> {
    if (!(this.#frequency > 0 && this.#frequency < 8000)) {
      throw new RangeError(
        `A tone of ${this.#frequency} Hz cannot be played: choose more than 0 and less than 8000`,
      );
    }
    this.#periods = wholePeriods(this.#frequency, this.sampleRate);
  }

  start(): void {}

  close(): void {}

  read(frame: Int16Array): boolean {
    const periods = this.#periods;
    for (let i = 0; i < frame.length; i++) {
      frame[i] = periods[this.#at] ?? 0;
      this.#at = this.#at + 1 === periods.length ? 0 : this.#at + 1;
    }
    return true;
  }
}

/** The shortest whole number of periods that is a whole number of samples. */
function wholePeriods(frequency: number, sampleRate: number): Int16Array {
  const tenths = Math.round(frequency * 10);
  const length = (sampleRate * 10) / gcd(sampleRate * 10, tenths);
  const step = (2 * Math.PI * frequency) / sampleRate;
  return Int16Array.from({ length }, (_, n) => Math.round(amplitude * Math.sin(step * n)));
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
