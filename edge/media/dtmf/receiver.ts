/**
 * Detects key presses in RFC 4733 packets. An event is identified by its RTP timestamp, whatever order its
 * packets arrive in and however many are lost:
 *
 *     first packet of a timestamp ----> pressed ---- end bit ------------------> reported
 *                                          |-------- next timestamp -----------> reported
 *                                          |-------- no packet for 250 ms -----> reported
 *
 * A press is reported once; later packets with its timestamp are ignored.
 */
import type { DtmfEvent } from '../../call/ports/media.ts';
import { timestampAhead } from '../rtp/sequence.ts';
import { digitOf, eventLength, longestSegment } from './event.ts';

export interface DtmfReceiverOptions {
  /** Clock of the telephone-event format, Hz. */
  readonly clockRate: number;
  /** Silence after which an event without an end packet is over; senders repeat every 20 to 50 ms. */
  readonly timeoutMs?: number;
}

interface Press {
  readonly digit: string;
  readonly code: number;
  /** RTP timestamp of the current segment. */
  segment: number;
  /** Ticks of the previous segments. */
  earlier: number;
  duration: number;
  /** Without packets, ms. */
  silentMs: number;
  /** When a packet arrived or the silence was counted, ms. */
  seenMs: number;
}

/**
 * Ticks are 20 ms apart. What is more is a stall of this thread, not of the peer, and its packets wait to be read, ms: with
 * the tick after a stall of 250 ms the press would be over before they are.
 */
const longestTickMs = 40;

/** Timestamps of reported presses to remember, more than reordering can affect. */
const remembered = 16;
/** Loss and rounding may leave the last reported duration of a full segment this many ticks short. */
const segmentTolerance = 0x1000;
const nothing: readonly DtmfEvent[] = [];

export class DtmfReceiver {
  readonly #ticksPerMs: number;
  readonly #timeoutMs: number;
  #press: Press | null = null;
  readonly #reported: number[] = [];

  constructor(options: DtmfReceiverOptions) {
    this.#ticksPerMs = options.clockRate / 1000;
    this.#timeoutMs = options.timeoutMs ?? 250;
  }

  /**
   * Processes one packet with the telephone-event payload type.
   * @param timestamp RTP timestamp of the packet
   * @param nowMs arrival time, any monotonic clock
   * @returns presses that it ended, in the order in which they were made
   */
  push(timestamp: number, payload: Uint8Array, nowMs: number): readonly DtmfEvent[] {
    if (payload.length < eventLength) return nothing;
    const code = payload[0] ?? 0;
    const digit = digitOf(code);
    if (digit === undefined || this.#reported.includes(timestamp)) return nothing;
    const end = ((payload[1] ?? 0) & 0x80) !== 0;
    const duration = ((payload[2] ?? 0) << 8) | (payload[3] ?? 0);

    const ended: DtmfEvent[] = [];
    let press = this.#press;
    if (press !== null && this.#continues(press, code, timestamp)) {
      press.earlier += timestampAhead(timestamp, press.segment);
      this.#remember(press.segment);
      press.segment = timestamp;
      press.duration = 0;
    } else if (press !== null && timestamp !== press.segment) {
      if (timestampAhead(timestamp, press.segment) < 0) {
        // The only remaining packet of an earlier press arrived late: that press still came first.
        this.#remember(timestamp);
        return [{ digit, durationMs: Math.round(duration / this.#ticksPerMs) }];
      }
      ended.push(this.#report(press));
      press = null;
    }
    press ??= { digit, code, segment: timestamp, earlier: 0, duration: 0, silentMs: 0, seenMs: nowMs };
    this.#press = press;
    press.silentMs = 0;
    press.seenMs = nowMs;
    press.duration = Math.max(press.duration, duration);
    if (end) ended.push(this.#report(press));
    return ended;
  }

  /** Ends a press after the timeout without packets. Call it on every tick. */
  poll(nowMs: number): readonly DtmfEvent[] {
    const press = this.#press;
    if (press === null) return nothing;
    press.silentMs += Math.min(nowMs - press.seenMs, longestTickMs);
    press.seenMs = nowMs;
    return press.silentMs < this.#timeoutMs ? nothing : [this.#report(press)];
  }

  /** Whether a key is down. */
  get pressed(): boolean {
    return this.#press !== null;
  }

  /** RFC 4733 section 2.5.1.3: a press too long for the duration field continues in a new segment. */
  #continues(press: Press, code: number, timestamp: number): boolean {
    if (code !== press.code || timestamp === press.segment) return false;
    const distance = timestampAhead(timestamp, press.segment);
    return distance <= longestSegment + 1 && distance > longestSegment - segmentTolerance;
  }

  #report(press: Press): DtmfEvent {
    this.#remember(press.segment);
    this.#press = null;
    const ticks = press.earlier + press.duration;
    return { digit: press.digit, durationMs: Math.round(ticks / this.#ticksPerMs) };
  }

  #remember(timestamp: number): void {
    this.#reported.push(timestamp);
    if (this.#reported.length > remembered) this.#reported.shift();
  }
}
