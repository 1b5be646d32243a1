import type { Clock, Timer } from '#shared/clock.ts';
import { T1, T2 } from '../transaction/timers.ts';

/**
 * Responses for whose arrival the user agent core itself is answerable, also over a reliable transport, because
 * a later hop may be unreliable: the 2xx of an INVITE until its ACK (RFC 3261 section 13.3.1.4), a reliable
 * provisional until its PRACK (RFC 3262 section 3).
 */
export type Retransmitted = '2xx' | 'reliable 1xx';

/** Sends again after T1, then after twice as long each time, and gives up 64*T1 after the first sending. */
export class Retransmission {
  readonly #clock: Clock;
  readonly #longest: number;
  readonly #resend: () => void;
  readonly #expired: () => void;
  readonly #deadline: number;
  #timer: Timer;

  /** @param expired called once when nobody acknowledged in time */
  constructor(clock: Clock, what: Retransmitted, resend: () => void, expired: () => void) {
    this.#clock = clock;
    // RFC 3262 has no upper bound where 13.3.1.4 has T2.
    this.#longest = what === '2xx' ? T2 : Number.POSITIVE_INFINITY;
    this.#resend = resend;
    this.#expired = expired;
    this.#deadline = clock.elapsed() + 64 * T1;
    this.#timer = this.#wait(T1);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #wait(ms: number): Timer {
    const left = this.#deadline - this.#clock.elapsed();
    if (left <= ms) return this.#clock.after(left, this.#expired);
    return this.#clock.after(ms, () => {
      this.#resend();
      this.#timer = this.#wait(Math.min(2 * ms, this.#longest));
    });
  }
}
