/**
 * How late packets come, compared with the quickest ones of late: a histogram that forgets slowly, from which
 * the depth of the jitter buffer follows.
 */

const bucketMs = 10;
const buckets = 32;
/** Weight that a packet keeps when the next one comes: half of it is gone after 5 s at 50 packets/s. */
const keep = 0.9972;
/** Share of packets that the depth must suffice for. */
const quantile = 0.98;
/** The quickest packet is looked for in so long a time, so that drifting clocks are followed. */
const windowMs = 5000;

export class DelayEstimate {
  readonly #weights = new Float64Array(buckets);
  #total = 0;
  /** Least transit of the window before, and of the present one. */
  #leastBefore = Number.POSITIVE_INFINITY;
  #least = Number.POSITIVE_INFINITY;
  #windowStartMs = Number.NEGATIVE_INFINITY;

  /**
   * Takes one packet. @param transitMs arrival time minus media time, both in milliseconds, of any origin
   */
  push(transitMs: number, nowMs: number): void {
    if (nowMs - this.#windowStartMs >= windowMs) {
      this.#leastBefore = nowMs - this.#windowStartMs < 2 * windowMs ? this.#least : transitMs;
      this.#least = transitMs;
      this.#windowStartMs = nowMs;
    }
    this.#least = Math.min(this.#least, transitMs);
    const bucket = Math.min(buckets - 1, Math.floor((transitMs - this.base) / bucketMs));
    for (let i = 0; i < buckets; i++) this.#weights[i] = (this.#weights[i] ?? 0) * keep;
    this.#weights[bucket] = (this.#weights[bucket] ?? 0) + 1;
    this.#total = this.#total * keep + 1;
  }

  /** Transit of the quickest packet of late, milliseconds. */
  get base(): number {
    return Math.min(this.#least, this.#leastBefore);
  }

  /** Delay behind the quickest within which all but a few packets come, milliseconds. */
  get spreadMs(): number {
    const enough = this.#total * quantile;
    let sum = 0;
    for (let i = 0; i < buckets; i++) {
      sum += this.#weights[i] ?? 0;
      if (sum >= enough) return i === 0 ? 0 : (i + 1) * bucketMs;
    }
    return buckets * bucketMs;
  }

  /** Forgets where media time stood, but not how unsteady the path is. */
  rebase(): void {
    this.#least = Number.POSITIVE_INFINITY;
    this.#leastBefore = Number.POSITIVE_INFINITY;
    this.#windowStartMs = Number.NEGATIVE_INFINITY;
  }
}
