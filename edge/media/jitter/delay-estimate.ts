/**
 * Measures how late packets arrive compared with the recently fastest ones: a slowly decaying histogram that
 * determines the depth of the jitter buffer.
 */

const bucketMs = 10;
const buckets = 32;
/** Weight that a packet keeps when the next one arrives: half of it is gone after 5 s at 50 packets/s. */
const keep = 0.9972;
/** Share of packets that the depth must cover. */
const quantile = 0.98;
/** Window for the fastest packet, so that clock drift is followed. */
const windowMs = 5000;

export class DelayEstimate {
  readonly #weights = new Float64Array(buckets);
  #total = 0;
  /** Minimum transit of the previous window, and of the current one. */
  #leastBefore = Number.POSITIVE_INFINITY;
  #least = Number.POSITIVE_INFINITY;
  #windowStartMs = Number.NEGATIVE_INFINITY;

  /** Processes one packet. @param transitMs arrival time minus media time, both in milliseconds, with any origin */
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

  /** Transit of the recently fastest packet, milliseconds. */
  get base(): number {
    return Math.min(this.#least, this.#leastBefore);
  }

  /** Delay behind the fastest within which all but a few packets arrive, milliseconds. */
  get spreadMs(): number {
    const enough = this.#total * quantile;
    let sum = 0;
    for (let i = 0; i < buckets; i++) {
      sum += this.#weights[i] ?? 0;
      if (sum >= enough) return i === 0 ? 0 : (i + 1) * bucketMs;
    }
    return buckets * bucketMs;
  }

  /** Resets the media time reference, but keeps the measured jitter. */
  rebase(): void {
    this.#least = Number.POSITIVE_INFINITY;
    this.#leastBefore = Number.POSITIVE_INFINITY;
    this.#windowStartMs = Number.NEGATIVE_INFINITY;
  }
}
