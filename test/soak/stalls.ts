/**
 * Stalls of the soak's own process: on a machine that others overload, the phones of the soak answer too late, and the
 * programs' time limits of a few seconds end connections. Neither is a fault of the product.
 */
import type { Disturbances } from './disturbances.ts';

const everyMs = 100;
/** A timer that is so late is a stall: the shortest time limit of the product that a call meets is 4 s. */
const stallMs = 1_000;
/** What a stall has delayed is over by then: the time limits of a handshake and of a connection's first message. */
const touchedMs = 5_000;

export class Stalls {
  count = 0;
  /** Of the longest one, ms. */
  longest = 0;
  readonly #timer: NodeJS.Timeout;
  #expected = performance.now() + everyMs;

  constructor(disturbances: Disturbances) {
    this.#timer = setInterval(() => {
      const now = performance.now();
      const late = now - this.#expected;
      this.#expected = now + everyMs;
      if (late < stallMs) return;
      this.count++;
      this.longest = Math.max(this.longest, late);
      setTimeout(disturbances.begin('machine'), touchedMs);
    }, everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
