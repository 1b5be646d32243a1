/** Timers of one thing, which are stopped together when it ends. */
import type { Clock, Timer } from './clock.ts';

export class Timers {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #running = new Set<Timer>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Calls `fire` once after `ms` milliseconds, unless the timer or all are stopped before. */
  after(ms: number, fire: () => void): Timer {
    const timer = this.#clock.after(ms, () => {
      this.#running.delete(own);
      fire();
    });
    const own = {
      cancel: () => {
        timer.cancel();
        this.#running.delete(own);
      },
    };
    this.#running.add(own);
    return own;
  }

  /** Stops all that run. New ones may be set. */
  stop(): void {
    for (const timer of this.#running) timer.cancel();
  }
}
