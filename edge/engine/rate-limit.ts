import { hostKey } from '#shared/networks.ts';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Sources remembered before those that have their full allowance again are forgotten. */
const MAX_IDLE_SOURCES = 10_000;

/** Requests per second and source, with IPv6 a /64: a token bucket that holds two seconds' worth. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Whether one more request of this source may pass. @param now milliseconds */
  admit(source: string, now: number): boolean {
    const address = hostKey(source);
    let bucket = this.#buckets.get(address);
    if (!bucket) {
      if (this.#buckets.size >= MAX_IDLE_SOURCES) this.#forgetIdle(now);
      bucket = { tokens: 2 * this.#perSecond, filledAt: now };
      this.#buckets.set(address, bucket);
    }
    const gained = (Math.max(0, now - bucket.filledAt) / 1_000) * this.#perSecond;
    bucket.tokens = Math.min(2 * this.#perSecond, bucket.tokens + gained);
    bucket.filledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #forgetIdle(now: number): void {
    for (const [address, bucket] of this.#buckets) {
      if (now - bucket.filledAt >= 2_000) this.#buckets.delete(address);
    }
  }
}
