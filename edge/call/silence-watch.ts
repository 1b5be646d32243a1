/** Watches that a peer which does not hold the call keeps sending media. */
import type { Clock, Timer } from '#shared/clock.ts';

export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #silentForMs: () => number;
  readonly #onSilent: () => void;
  #timer: Timer | null = null;
  #since = 0;

  /**
   * @param limitMs 0: never
   * @param silentForMs milliseconds since the last packet
   */
  constructor(clock: Clock, limitMs: number, silentForMs: () => number, onSilent: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#silentForMs = silentForMs;
    this.#onSilent = onSilent;
  }

  /** Media may be expected from now on: at the start, and when a hold is over. */
  start(): void {
    this.stop();
    this.#since = this.#clock.now();
    if (this.#limitMs > 0) this.#checkIn(this.#limitMs);
  }

  /** No media need come: on hold, and at the end. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #checkIn(ms: number): void {
    this.#timer = this.#clock.after(ms, () => {
      const silent = Math.min(this.#silentForMs(), this.#clock.now() - this.#since);
      if (silent >= this.#limitMs) this.#onSilent();
      else this.#checkIn(this.#limitMs - silent);
    });
  }
}
