/**
 * Blocks sources that repeatedly make calls they are not allowed to: after some attempts within a period they get no more
 * answers. With IPv6 a source is a /64.
 */
import type { Clock } from '#shared/clock.ts';
import { hostKey } from '#shared/networks.ts';

export interface StrangerLimits {
  /** Attempts within `windowS` that are still answered. */
  readonly tries: number;
  readonly windowS: number;
  /** How long a source stays blocked. */
  readonly blockS: number;
  /** Maximum number of remembered sources; the longest silent one is dropped first. */
  readonly maxSources: number;
}

export const strangerLimits: StrangerLimits = {
  // Enough to correct a mistake in a trunk's set-up.
  tries: 5,
  windowS: 60,
  // A scanner moves on to the next host; the operator of a PBX does not wait long after a mistake.
  blockS: 600,
  // About 2 MB; a flood from more addresses meets the engine's limits first.
  maxSources: 10_000,
};

interface Stranger {
  /** The attempts in the window. `at`: ms. */
  tries: { readonly at: number; readonly weight: number }[];
  blockedUntil: number;
}

export class Strangers {
  readonly #clock: Clock;
  readonly #limits: StrangerLimits;
  /** Ordered by last attempt. */
  readonly #seen = new Map<string, Stranger>();

  constructor(clock: Clock, limits: StrangerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Number of remembered sources. */
  get size(): number {
    return this.#seen.size;
  }

  isBlocked(address: string): boolean {
    const source = hostKey(address);
    const stranger = this.#seen.get(source);
    if (!stranger || stranger.blockedUntil === 0) return false;
    if (stranger.blockedUntil > this.#clock.elapsed()) return true;
    this.#seen.delete(source);
    return false;
  }

  /**
   * Counts an attempt.
   * @param weight how many attempts it counts for
   * @returns seconds for which the source is now blocked, 0 when it is not
   */
  tried(address: string, weight = 1): number {
    const { tries, windowS, blockS, maxSources } = this.#limits;
    const now = this.#clock.elapsed();
    const source = hostKey(address);
    const stranger = this.#seen.get(source) ?? { tries: [], blockedUntil: 0 };
    stranger.tries = stranger.tries.filter(({ at }) => at > now - windowS * 1000);
    stranger.tries.push({ at: now, weight });
    this.#seen.delete(source);
    this.#seen.set(source, stranger);
    if (this.#seen.size > maxSources) {
      const oldest = this.#seen.keys().next();
      if (!oldest.done) this.#seen.delete(oldest.value);
    }
    if (stranger.tries.reduce((sum, each) => sum + each.weight, 0) < tries) return 0;
    stranger.tries = [];
    stranger.blockedUntil = now + blockS * 1000;
    return blockS;
  }
}
