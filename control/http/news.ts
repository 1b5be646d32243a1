/** Wakes the generator of a stream when there is something new, and at least at each heartbeat. */
import type { Clock } from '#shared/clock.ts';

/** Whether something happened since the last check. */
export class News {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #heartbeatMs: number;
  #pending = false;
  #wake: () => void = () => undefined;

  constructor(clock: Pick<Clock, 'after'>, heartbeatMs: number) {
    this.#clock = clock;
    this.#heartbeatMs = heartbeatMs;
  }

  notify(): void {
    this.#pending = true;
    this.#wake();
  }

  /** Resolves with false when something happened, with true when nothing did within a heartbeat interval. */
  async quiet(): Promise<boolean> {
    let tooLong = false;
    if (!this.#pending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = this.#clock.after(this.#heartbeatMs, () => {
        tooLong = true;
        resolve();
      });
      await promise;
      timer.cancel();
    }
    this.#pending = false;
    return tooLong;
  }
}
