/**
 * Adaptive jitter buffer for one received stream. Packets arrive at any time and in any order; a frame is taken
 * every 20 ms. No clock inside: both sides pass the current time.
 *
 *                     a packet                    target depth reached
 *     +-------+  ----------------->  +---------+  ------------------->  +---------+
 *     | idle  |                      | filling |                        | playing |
 *     +-------+  <-----------------  +---------+                        +---------+
 *         ^                                                                  |
 *         +----------------------- nothing for 100 ms -----------------------+
 *
 * While playing, the next frame is found by its RTP timestamp. The depth follows the spread of arrival delays:
 * it grows by concealing a frame without advancing when the due packet is late; it shrinks by skipping a frame,
 * at most every half second unless the buffer is far too deep.
 */
import { sequenceAhead, timestampAhead, timestampPlus } from '../rtp/sequence.ts';
import { DelayEstimate } from './delay-estimate.ts';

export interface JitterBufferOptions {
  /** RTP clock, Hz. */
  readonly clockRate: number;
  /** Length of a payload in clock ticks (`AudioCodec.duration`); 0: invalid for the codec, dropped. */
  readonly duration: (payload: Uint8Array) => number;
  /** Minimum and maximum depth in frames of 20 ms; default 2 and 10. */
  readonly minFrames?: number;
  readonly maxFrames?: number;
}

export type Pulled =
  /** A packet's payload, copied. It may contain more or less than 20 ms. */
  | { readonly kind: 'frame'; readonly payload: Uint8Array }
  /**
   * Audio is missing: conceal `ticks` (at most 20 ms). `next`: the payload after the gap, if it has arrived and
   * the gap is one packet, for codecs that carry redundancy.
   */
  | { readonly kind: 'lost'; readonly ticks: number; readonly next: Uint8Array | null }
  /** Nobody is talking, or the buffer is filling. */
  | { readonly kind: 'silence' };

/** Packet counters since the start. */
export interface JitterCounts {
  readonly played: number;
  /** Concealed frames. */
  readonly concealed: number;
  /** Packets that arrived too late. */
  readonly late: number;
  readonly duplicate: number;
  /** Packets skipped to reduce the delay. */
  readonly skipped: number;
  /** Restarts: a new SSRC, a jump in sequence or time. */
  readonly resets: number;
}

interface Held {
  readonly sequence: number;
  readonly timestamp: number;
  readonly ticks: number;
  readonly payload: Uint8Array;
}

const frameMs = 20;
/** Concealment sounds artificial after 100 ms: silence from then on. */
const maxConcealedFrames = 5;
/** A timestamp this far off the arrival time is a jump, not a delay. */
const jumpMs = 2000;
/** After silence, elapsed time missing from the timestamps: above this the sender stopped its clock. */
const pauseMs = 300;
/** A sequence number this far off belongs to another stream (RFC 3550 A.1). */
const sequenceJump = 1000;
/** Late packets of the previous stream may arrive this long. */
const stragglersMs = 500;
const shrinkEveryMs = 500;
/** Recent sequence numbers, to tell duplicates from late packets. */
const seenSize = 64;
const silence: Pulled = { kind: 'silence' };

export class JitterBuffer {
  readonly #ticksPerMs: number;
  readonly #frameTicks: number;
  readonly #duration: (payload: Uint8Array) => number;
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #delay = new DelayEstimate();

  /** Sorted by timestamp. */
  #held: Held[] = [];
  #state: 'idle' | 'filling' | 'playing' = 'idle';
  /** Timestamp of the next audio to play. */
  #due = 0;
  #ssrc: number | null = null;
  #oldSsrc: number | null = null;
  #ssrcSinceMs = 0;
  /** The newest packet by sequence number. */
  #newest: { sequence: number; timestamp: number; arrivalMs: number } | null = null;
  readonly #seen = new Int32Array(seenSize).fill(-1);
  /** A far-off packet needs a second one to confirm the jump, with this sequence number. */
  #jumpTo = -1;
  /** Origin from which media time is unwrapped for delay measurement. */
  #origin = { timestamp: 0, ms: 0 };
  #concealedInRow = 0;
  #fillingSinceMs = 0;
  #emptySinceMs = Number.NEGATIVE_INFINITY;
  #lastShrinkMs = Number.NEGATIVE_INFINITY;
  readonly #counts = { played: 0, concealed: 0, late: 0, duplicate: 0, skipped: 0, resets: 0 };

  constructor(options: JitterBufferOptions) {
    this.#ticksPerMs = options.clockRate / 1000;
    this.#frameTicks = this.#ticksPerMs * frameMs;
    this.#duration = options.duration;
    this.#minMs = (options.minFrames ?? 2) * frameMs;
    this.#maxMs = (options.maxFrames ?? 10) * frameMs;
  }

  /**
   * Stores one packet; the payload is copied.
   * @param nowMs arrival time on the clock that `pull` uses
   */
  push(ssrc: number, sequence: number, timestamp: number, payload: Uint8Array, nowMs: number): void {
    const ticks = this.#duration(payload);
    if (ticks <= 0 || !this.#belongs(ssrc, sequence, timestamp, nowMs)) return;
    const slot = sequence % seenSize;
    if (this.#seen[slot] === sequence) {
      this.#counts.duplicate++;
      return;
    }
    this.#seen[slot] = sequence;
    this.#delay.push(nowMs - this.#mediaMs(timestamp), nowMs);

    if (this.#state === 'idle') {
      this.#state = 'filling';
      this.#due = timestamp;
      this.#fillingSinceMs = nowMs;
    }
    const ahead = timestampAhead(timestamp, this.#due);
    if (ahead < 0) {
      if (this.#state === 'playing') {
        this.#counts.late++;
        return;
      }
      this.#due = timestamp;
    }
    this.#insert({ sequence, timestamp, ticks, payload: Uint8Array.prototype.slice.call(payload) });
    this.#bound();
  }

  /** What to play now. Call it when another 20 ms are needed; `nowMs` on the clock of `push`. */
  pull(nowMs: number): Pulled {
    if (this.#state === 'idle') return silence;
    if (this.#state === 'filling' && !this.#filled(nowMs)) return silence;
    this.#shrink(nowMs);
    const first = this.#held[0];
    if (first === undefined) return this.#underrun(nowMs);
    const gap = timestampAhead(first.timestamp, this.#due);
    // Half a millisecond of rounding is not a gap.
    if (gap > this.#ticksPerMs / 2) return this.#gap(gap, first, nowMs);
    this.#held.shift();
    this.#due = timestampPlus(first.timestamp, first.ticks);
    this.#concealedInRow = 0;
    this.#counts.played++;
    return { kind: 'frame', payload: first.payload };
  }

  /** Target depth, milliseconds. */
  get targetMs(): number {
    const frames = Math.ceil(this.#delay.spreadMs / frameMs) + 1;
    return Math.max(this.#minMs, Math.min(this.#maxMs, frames * frameMs));
  }

  /** Audio held, milliseconds, including gaps. */
  get heldMs(): number {
    const last = this.#held.at(-1);
    return last ? (timestampAhead(last.timestamp, this.#due) + last.ticks) / this.#ticksPerMs : 0;
  }

  get counts(): JitterCounts {
    return this.#counts;
  }

  /** Decides whether a packet belongs to this stream; restarts when another stream begins. */
  #belongs(ssrc: number, sequence: number, timestamp: number, nowMs: number): boolean {
    if (ssrc !== this.#ssrc) {
      if (ssrc === this.#oldSsrc && nowMs - this.#ssrcSinceMs < stragglersMs) return false;
      this.#oldSsrc = this.#ssrc;
      this.#ssrc = ssrc;
      this.#ssrcSinceMs = nowMs;
      this.#restart(sequence, timestamp, nowMs);
      return true;
    }
    const newest = this.#newest;
    if (newest === null) return true;
    const ahead = sequenceAhead(sequence, newest.sequence);
    if (ahead > sequenceJump || ahead < -sequenceJump) {
      const confirmed = sequence === this.#jumpTo;
      this.#jumpTo = (sequence + 1) & 0xffff;
      if (confirmed) this.#restart(sequence, timestamp, nowMs);
      return confirmed;
    }
    if (ahead <= 0) return true;
    const mediaMs = timestampAhead(timestamp, newest.timestamp) / this.#ticksPerMs;
    // A packet that is newer by number but older by time, or newer by far more than the elapsed time: the sender
    // has reset its timestamps.
    if (mediaMs < 0 || mediaMs - (nowMs - newest.arrivalMs) > jumpMs) {
      this.#restart(sequence, timestamp, nowMs);
      return true;
    }
    // The sender's clock stood still in a pause: its delay must not be counted as network delay.
    if (this.#state === 'idle' && nowMs - newest.arrivalMs - mediaMs > pauseMs) this.#delay.rebase();
    newest.sequence = sequence;
    newest.timestamp = timestamp;
    newest.arrivalMs = nowMs;
    return true;
  }

  #restart(sequence: number, timestamp: number, nowMs: number): void {
    if (this.#newest !== null) this.#counts.resets++;
    this.#newest = { sequence, timestamp, arrivalMs: nowMs };
    this.#held = [];
    this.#state = 'idle';
    this.#seen.fill(-1);
    this.#jumpTo = -1;
    this.#concealedInRow = 0;
    this.#origin = { timestamp, ms: 0 };
    this.#delay.rebase();
  }

  /**
   * Media time of a timestamp in milliseconds since the start; the origin moves along, so that wrapping at 2^32
   * ticks does not matter.
   */
  #mediaMs(timestamp: number): number {
    const ms = this.#origin.ms + timestampAhead(timestamp, this.#origin.timestamp) / this.#ticksPerMs;
    if (ms > this.#origin.ms) this.#origin = { timestamp, ms };
    return ms;
  }

  #insert(packet: Held): void {
    let place = this.#held.length;
    while (place > 0 && timestampAhead(this.#held[place - 1]?.timestamp ?? 0, packet.timestamp) > 0) place--;
    if (this.#held[place - 1]?.timestamp === packet.timestamp) this.#counts.duplicate++;
    else this.#held.splice(place, 0, packet);
  }

  /** Memory is bounded even when nobody pulls: the oldest packets are dropped first. */
  #bound(): void {
    while (this.#held.length > 1 && this.heldMs > 2 * this.#maxMs) this.#skip();
  }

  #filled(nowMs: number): boolean {
    const waited = nowMs - this.#fillingSinceMs;
    // Compares whole ticks: half a frame of tolerance keeps the phase between arrivals and pulls from adding a
    // frame.
    if (this.heldMs < this.targetMs && waited < this.targetMs - frameMs / 2) return false;
    this.#state = 'playing';
    return true;
  }

  /** How long ago the audio that is due now arrived, or would have arrived over the fastest path. */
  #delayMs(nowMs: number): number {
    return nowMs - this.#mediaMsOf(this.#due) - this.#delay.base;
  }

  #mediaMsOf(timestamp: number): number {
    return this.#origin.ms + timestampAhead(timestamp, this.#origin.timestamp) / this.#ticksPerMs;
  }

  #shrink(nowMs: number): void {
    const target = this.targetMs;
    const excess = this.heldMs - target;
    if (excess > this.#maxMs / 2) {
      while (this.#held.length > 1 && this.heldMs > target) this.#skip();
      this.#lastShrinkMs = nowMs;
    } else if (
      excess > frameMs &&
      this.#held.length > 1 &&
      this.#delayMs(nowMs) > target + frameMs &&
      nowMs - this.#lastShrinkMs >= shrinkEveryMs
    ) {
      this.#skip();
      this.#lastShrinkMs = nowMs;
    }
  }

  #skip(): void {
    const first = this.#held.shift();
    if (first === undefined) return;
    this.#due = timestampPlus(first.timestamp, first.ticks);
    this.#counts.skipped++;
  }

  #underrun(nowMs: number): Pulled {
    if (this.#concealedInRow >= maxConcealedFrames) {
      this.#state = 'idle';
      this.#concealedInRow = 0;
      return silence;
    }
    // Turns caught up after this process stalled run in one go, before the waiting packets are read: those must
    // not be given up.
    const madeUp = nowMs - this.#emptySinceMs < frameMs / 2;
    this.#emptySinceMs = nowMs;
    return this.#conceal(this.#frameTicks, null, madeUp || this.#tooShallow(nowMs));
  }

  #gap(gap: number, first: Held, nowMs: number): Pulled {
    if (this.#concealedInRow >= maxConcealedFrames) {
      // The talker paused (RFC 3551 section 4.1), or a burst was lost: continue where there is audio.
      this.#concealedInRow = 0;
      this.#due = first.timestamp;
      return silence;
    }
    const ticks = Math.min(gap, this.#frameTicks);
    return this.#conceal(ticks, gap <= this.#frameTicks ? first.payload : null, this.#tooShallow(nowMs));
  }

  /** Whether the buffer is too shallow for the recent delays. */
  #tooShallow(nowMs: number): boolean {
    return this.#delayMs(nowMs) + frameMs < this.targetMs;
  }

  /** @param wait keep waiting for the packet instead of giving it up: everything after it is played later */
  #conceal(ticks: number, next: Uint8Array | null, wait: boolean): Pulled {
    this.#concealedInRow++;
    this.#counts.concealed++;
    if (wait) return { kind: 'lost', ticks, next: null };
    this.#due = timestampPlus(this.#due, ticks);
    return { kind: 'lost', ticks, next };
  }
}
