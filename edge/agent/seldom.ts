/** Keeps what a peer can repeat as often as it likes out of the log: one line in ten seconds, with how often it was. */
import type { Clock } from '#shared/clock.ts';

const pauseMs = 10_000;

export class Seldom {
  readonly #clock: Pick<Clock, 'elapsed'>;
  #at = Number.NEGATIVE_INFINITY;
  #times = 0;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** @param log called with how often it was since the last line, when a line is due */
  log(log: (times: number) => void): void {
    this.#times++;
    const now = this.#clock.elapsed();
    if (now - this.#at < pauseMs) return;
    const times = this.#times;
    this.#at = now;
    this.#times = 0;
    log(times);
  }
}
