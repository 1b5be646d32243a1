/** Loss and jitter of a received RTP stream, as defined in RFC 3550 (appendices A.1, A.3 and A.8). */
import { sequenceAhead, timestampAhead } from '../rtp/sequence.ts';

/** A sequence number this far off restarts the count (RFC 3550 A.1: MAX_DROPOUT, MAX_MISORDER). */
const maxDropout = 3000;
const maxMisorder = 100;

export class Reception {
  /** All packets, including duplicates. */
  received = 0;
  readonly #ticksPerMs: number;
  #ssrc = -1;
  #first = 0;
  /** Extended highest sequence number of the current stream. */
  #highest = 0;
  #receivedOfStream = 0;
  /** Expected and received packets of the call's earlier streams. */
  #expectedBefore = 0;
  #countedBefore = 0;
  /** Of the packet before; NaN, which unlike null costs nothing to replace by a number: there was none. */
  #transit = Number.NaN;
  /** In clock ticks. */
  #jitter = 0;

  /** @param clockRate RTP clock, Hz */
  constructor(clockRate: number) {
    this.#ticksPerMs = clockRate / 1000;
  }

  /**
   * Counts one valid packet.
   * @param arrivalMs any monotonic clock
   * @param timed false for packets whose timestamp is not their sending time (RFC 4733 events)
   */
  push(ssrc: number, sequence: number, timestamp: number, arrivalMs: number, timed = true): void {
    this.received++;
    const ahead = sequenceAhead(sequence, this.#highest & 0xffff);
    if (ssrc !== this.#ssrc || ahead > maxDropout || ahead < -maxMisorder) this.#begin(ssrc, sequence);
    else {
      if (ahead > 0) this.#highest += ahead;
      // Reordered before any packet was counted: the stream began earlier than it seemed.
      else this.#first = Math.min(this.#first, this.#highest + ahead);
      this.#receivedOfStream++;
    }
    if (timed) this.#measure(timestamp, arrivalMs);
  }

  /** Packets that should have arrived. */
  get expected(): number {
    return this.#ssrc < 0 ? 0 : this.#expectedBefore + this.#highest - this.#first + 1;
  }

  /** Missing packets; duplicates hide losses, never below 0 (RFC 3550 A.3). */
  get lost(): number {
    return Math.max(0, this.expected - this.#countedBefore - this.#receivedOfStream);
  }

  /** Interarrival jitter in milliseconds, null before two packets. */
  get jitterMs(): number | null {
    return this.#receivedOfStream > 1 ? this.#jitter / this.#ticksPerMs : null;
  }

  #begin(ssrc: number, sequence: number): void {
    if (this.#ssrc >= 0) {
      this.#expectedBefore = this.expected;
      this.#countedBefore += this.#receivedOfStream;
    }
    this.#ssrc = ssrc;
    this.#first = sequence;
    this.#highest = sequence;
    this.#receivedOfStream = 1;
    this.#transit = Number.NaN;
  }

  /** RFC 3550 A.8: J += (|D| - J) / 16. Differences are modulo 2^32, as timestamps wrap. */
  #measure(timestamp: number, arrivalMs: number): void {
    const transit = Math.round(arrivalMs * this.#ticksPerMs) - timestamp;
    if (!Number.isNaN(this.#transit)) {
      const difference = Math.abs(timestampAhead(transit, this.#transit));
      this.#jitter += (difference - this.#jitter) / 16;
    }
    this.#transit = transit;
  }
}
