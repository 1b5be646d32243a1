/** So many per second: what comes beyond is to be rejected. */
import type { Clock } from '#shared/clock.ts';

export class Allowance {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #perSecond: number;
  #second = Number.NEGATIVE_INFINITY;
  #taken = 0;

  constructor(clock: Pick<Clock, 'elapsed'>, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** @returns whether this one is within the allowance of the current second */
  take(): boolean {
    const second = Math.floor(this.#clock.elapsed() / 1000);
    if (second !== this.#second) this.#taken = 0;
    this.#second = second;
    return ++this.#taken <= this.#perSecond;
  }
}
