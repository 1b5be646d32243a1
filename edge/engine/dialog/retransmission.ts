import type { Clock, Timer } from '#shared/clock.ts';
import { T1, T2 } from '../transaction/timers.ts';

/**
 * Responses that the user agent core itself retransmits, also over a reliable transport, because a later hop may
 * be unreliable: the 2xx of an INVITE until its ACK (RFC 3261 section 13.3.1.4), a reliable provisional until its
 * PRACK (RFC 3262 section 3).
 */
export type Retransmitted = '2xx' | 'reliable 1xx';

/** Resends after T1, doubling the interval each time, and gives up 64*T1 after the first send. */
export class Retransmission {
  readonly #clock: Clock;
  readonly #longest: number;
  readonly #resend: () => void;
  readonly #expired: () => void;
  readonly #deadline: number;
  #timer: Timer;

  /** @param expired called once when no acknowledgment arrived in time */
  constructor(clock: Clock, what: Retransmitted, resend: () => void, expired: () => void) {
    this.#clock = clock;
    // RFC 3262 sets no upper bound; 13.3.1.4 uses T2.
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
