/**
 * Adaptive jitter buffer of one received stream. Packets come in at any time and in any order; a frame is
 * taken every 20 ms. No clock inside: both sides say what time it is.
 *
 *                     a packet                    target depth reached
 *     +-------+  ----------------->  +---------+  ------------------->  +---------+
 *     | idle  |                      | filling |                        | playing |
 *     +-------+  <-----------------  +---------+                        +---------+
 *         ^                                                                  |
 *         +----------------------- nothing for 100 ms -----------------------+
 *
 * While playing, the next frame due is found by its RTP timestamp. The depth follows the spread of arrival
 * delays: it grows by concealing a frame without moving on, when the due packet is late; it shrinks by
 * leaving out a frame, at most every half second unless the buffer is far too deep.
 */
import { sequenceAhead, timestampAhead, timestampPlus } from '../rtp/sequence.ts';
import { DelayEstimate } from './delay-estimate.ts';

export interface JitterBufferOptions {
  /** RTP clock, Hz. */
  readonly clockRate: number;
  /** Length of a payload in clock ticks (`AudioCodec.duration`); 0: not a payload of the codec, dropped. */
  readonly duration: (payload: Uint8Array) => number;
  /** Least and greatest depth in frames of 20 ms: 2 and 10 unless given. */
  readonly minFrames?: number;
  readonly maxFrames?: number;
}

export type Pulled =
  /** A packet's payload, the buffer's own copy. It may hold more or less than 20 ms. */
  | { readonly kind: 'frame'; readonly payload: Uint8Array }
  /**
   * Audio is missing: conceal `ticks` (at most 20 ms). `next`: the payload that follows the gap when it is
   * there and the gap is one packet, for codecs that carry redundancy.
   */
  | { readonly kind: 'lost'; readonly ticks: number; readonly next: Uint8Array | null }
  /** Nobody is talking, or the buffer is filling. */
  | { readonly kind: 'silence' };

/** What became of packets, since the start. */
export interface JitterCounts {
  readonly played: number;
  /** Frames concealed. */
  readonly concealed: number;
  /** Packets after their time. */
  readonly late: number;
  readonly duplicate: number;
  /** Packets left out to shrink the delay. */
  readonly skipped: number;
  /** New starts: another SSRC, a jump in sequence or time. */
  readonly resets: number;
}

interface Held {
  readonly sequence: number;
  readonly timestamp: number;
  readonly ticks: number;
  readonly payload: Uint8Array;
}

const frameMs = 20;
/** Concealment sounds like a machine after 100 ms: silence from then on. */
const maxConcealedFrames = 5;
/** A timestamp that is off from arrival time by so much is a jump, not a delay. */
const jumpMs = 2000;
/** After silence, time that went by without being stamped: above it the sender stopped its clock. */
const pauseMs = 300;
/** A sequence number so far off is another stream's (RFC 3550 A.1). */
const sequenceJump = 1000;
/** Packets of the stream before are still on their way for so long. */
const stragglersMs = 500;
const shrinkEveryMs = 500;
/** Recent sequence numbers, for telling duplicates from late packets. */
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
  /** Timestamp of the audio due next. */
  #due = 0;
  #ssrc: number | null = null;
  #oldSsrc: number | null = null;
  #ssrcSinceMs = 0;
  /** The newest packet by sequence number. */
  #newest: { sequence: number; timestamp: number; arrivalMs: number } | null = null;
  readonly #seen = new Int32Array(seenSize).fill(-1);
  /** A packet out of all order waits for a second that confirms the jump; this is the sequence it must have. */
  #jumpTo = -1;
  /** Media time is unwrapped from this origin for delay measurement. */
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
   * Takes one packet; the payload is copied.
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
    // Half a millisecond of rounding is no gap.
    if (gap > this.#ticksPerMs / 2) return this.#gap(gap, first, nowMs);
    this.#held.shift();
    this.#due = timestampPlus(first.timestamp, first.ticks);
    this.#concealedInRow = 0;
    this.#counts.played++;
    return { kind: 'frame', payload: first.payload };
  }

  /** Depth that the buffer aims at, milliseconds. */
  get targetMs(): number {
    const frames = Math.ceil(this.#delay.spreadMs / frameMs) + 1;
    return Math.max(this.#minMs, Math.min(this.#maxMs, frames * frameMs));
  }

  /** Audio held, milliseconds, gaps included. */
  get heldMs(): number {
    const last = this.#held.at(-1);
    return last ? (timestampAhead(last.timestamp, this.#due) + last.ticks) / this.#ticksPerMs : 0;
  }

  get counts(): JitterCounts {
    return this.#counts;
  }

  /** Decides whether a packet is of this stream, starting anew where another one begins. */
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
    // A packet that is newer by its number but older by its time, or newer by far more than the time that
    // went by: the sender began to count time anew.
    if (mediaMs < 0 || mediaMs - (nowMs - newest.arrivalMs) > jumpMs) {
      this.#restart(sequence, timestamp, nowMs);
      return true;
    }
    // A sender whose clock stood still in a pause: its delay must not be taken for the network's.
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

  /** Media time of a timestamp in milliseconds since the start; the origin follows, so that 2^32 ticks never matter. */
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

  /** Memory is bounded even when nobody pulls: the oldest packets go first. */
  #bound(): void {
    while (this.#held.length > 1 && this.heldMs > 2 * this.#maxMs) this.#skip();
  }

  #filled(nowMs: number): boolean {
    const waited = nowMs - this.#fillingSinceMs;
    // Whole ticks apart: half a frame of grace keeps the phase between arrivals and pulls from adding a frame.
    if (this.heldMs < this.targetMs && waited < this.targetMs - frameMs / 2) return false;
    this.#state = 'playing';
    return true;
  }

  /** How long ago the audio that is due now came, or would have come by the quickest way. */
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
    // Turns made up after this process stalled come in one go, before the packets that waited as well: those
    // must not be given up.
    const madeUp = nowMs - this.#emptySinceMs < frameMs / 2;
    this.#emptySinceMs = nowMs;
    return this.#conceal(this.#frameTicks, null, madeUp || this.#tooShallow(nowMs));
  }

  #gap(gap: number, first: Held, nowMs: number): Pulled {
    if (this.#concealedInRow >= maxConcealedFrames) {
      // The talker paused (RFC 3551 section 4.1), or a burst was lost: go on where there is audio.
      this.#concealedInRow = 0;
      this.#due = first.timestamp;
      return silence;
    }
    const ticks = Math.min(gap, this.#frameTicks);
    return this.#conceal(ticks, gap <= this.#frameTicks ? first.payload : null, this.#tooShallow(nowMs));
  }

  /** Whether the buffer is not deep enough for the delays of late. */
  #tooShallow(nowMs: number): boolean {
    return this.#delayMs(nowMs) + frameMs < this.targetMs;
  }

  /** @param wait go on waiting for the packet instead of giving it up: all that follows is played later */
  #conceal(ticks: number, next: Uint8Array | null, wait: boolean): Pulled {
    this.#concealedInRow++;
    this.#counts.concealed++;
    if (wait) return { kind: 'lost', ticks, next: null };
    this.#due = timestampPlus(this.#due, ticks);
    return { kind: 'lost', ticks, next };
  }
}
