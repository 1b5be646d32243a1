import { hostKey } from '#shared/networks.ts';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Sources kept; beyond this, the longest silent one is dropped. */
const maxSources = 10_000;

/** Requests per second and source (with IPv6 a /64): a token bucket that holds two seconds' worth. */
export class RateLimit {
  readonly #perSecond: number;
  /** The longest silent first. */
  readonly #buckets = new Map<string, Bucket>();
  /** The source of the last request: most have the same as the one before. */
  #last: { readonly source: string; readonly bucket: Bucket } | null = null;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Whether another request from this source is allowed. @param now milliseconds of the clock's elapsed time */
  admit(source: string, now: number): boolean {
    const full = 2 * this.#perSecond;
    const bucket = this.#last?.source === source ? this.#last.bucket : this.#bucketOf(source, full, now);
    bucket.tokens = Math.min(full, bucket.tokens + ((now - bucket.filledAt) / 1_000) * this.#perSecond);
    bucket.filledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  /** Moves it to the end of the order. */
  #bucketOf(source: string, full: number, now: number): Bucket {
    const address = hostKey(source);
    const bucket = this.#buckets.get(address) ?? { tokens: full, filledAt: now };
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    if (this.#buckets.size > maxSources) this.#forgetQuietest();
    this.#last = { source, bucket };
    return bucket;
  }

  #forgetQuietest(): void {
    const [quietest] = this.#buckets.keys();
    if (quietest !== undefined) this.#buckets.delete(quietest);
  }
}
