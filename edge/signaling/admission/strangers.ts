/**
 * Sources that keep trying what they may not: after some tries in a time they are blocked, which means that they get
 * no answer any more. With IPv6 a source is a /64.
 */
import type { Clock } from '#shared/clock.ts';
import { hostKey } from '#shared/networks.ts';

export interface StrangerLimits {
  /** Tries within `windowS` that are still answered. */
  readonly tries: number;
  readonly windowS: number;
  /** How long a source stays blocked. */
  readonly blockS: number;
  /** How many sources are remembered at most; the one that was quiet longest is forgotten first. */
  readonly maxSources: number;
}

interface Stranger {
  /** The tries in the window. `at`: ms. */
  tries: { readonly at: number; readonly weight: number }[];
  blockedUntil: number;
}

export class Strangers {
  readonly #clock: Clock;
  readonly #limits: StrangerLimits;
  /** In order of the last try. */
  readonly #seen = new Map<string, Stranger>();

  constructor(clock: Clock, limits: StrangerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Number of sources remembered. */
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
   * Counts a try.
   * @param weight how many tries it counts for
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
