/**
 * Port pairs for RTP and RTCP: RTP on an even port, RTCP on the next one (RFC 3550 section 11). The worker's own
 * port range pairs nothing, so they are handed out here.
 *
 * Free pairs wait in a queue, so the pair that comes next is the one that was free the longest; and it must
 * have rested, so that the stragglers of a call never reach the next one. The first pair of the queue is chosen
 * at random: after a restart the peers of the calls before still send to their old ports.
 */

import { randomInt } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { CallRefused } from '../call/call-refused.ts';

export interface RtpPortsOptions {
  /** Lowest and highest port that may be used; an odd `min` or even `max` loses a port. */
  readonly min: number;
  readonly max: number;
  /** Milliseconds that a pair stays unused after a call. */
  readonly restMs: number;
  readonly clock: Clock;
  /** 0 <= value < 1, for tests; the system's generator unless given. */
  readonly random?: () => number;
}

export class RtpPorts {
  readonly #first: number;
  readonly #restMs: number;
  readonly #clock: Clock;
  /** Indexes of free pairs, a ring that begins at `#head`. */
  readonly #queue: Uint16Array;
  /** Per pair: when it may be used again. */
  readonly #restedAt: Float64Array;
  /** Per pair: 1 while handed out. */
  readonly #taken: Uint8Array;
  #head = 0;
  #free: number;

  constructor(options: RtpPortsOptions) {
    const first = options.min + (options.min % 2);
    const pairs = Math.floor((options.max - first + 1) / 2);
    if (!Number.isInteger(first) || first < 2 || options.max > 65_535 || pairs < 1) {
      throw new RangeError(
        `RTP ports ${options.min} to ${options.max} hold no pair: set RTP_PORT_MIN and RTP_PORT_MAX so that at ` +
          'least one even port and the port after it lie between them',
      );
    }
    this.#first = first;
    this.#restMs = options.restMs;
    this.#clock = options.clock;
    this.#free = pairs;
    this.#restedAt = new Float64Array(pairs);
    this.#taken = new Uint8Array(pairs);
    const start = options.random ? Math.floor(options.random() * pairs) : randomInt(pairs);
    this.#queue = Uint16Array.from({ length: pairs }, (_, i) => (start + i) % pairs);
  }

  /** Pairs in all. */
  get capacity(): number {
    return this.#queue.length;
  }

  /** Pairs handed out. */
  get inUse(): number {
    return this.#queue.length - this.#free;
  }

  /**
   * The RTP port of a free pair; RTCP is the port after it.
   * @throws CallRefused 503 when every pair is in use or still resting
   */
  take(): number {
    const pair = this.#queue[this.#head];
    if (this.#free === 0 || pair === undefined || (this.#restedAt[pair] ?? 0) > this.#clock.now()) {
      throw new CallRefused(
        503,
        `no RTP port is free: ${this.inUse} of ${this.capacity} pairs are in use and ${this.#free} rest after a ` +
          'call; widen RTP_PORT_MIN to RTP_PORT_MAX or lower the call limit',
      );
    }
    this.#head = (this.#head + 1) % this.#queue.length;
    this.#free--;
    this.#taken[pair] = 1;
    return this.#first + 2 * pair;
  }

  /** Gives a pair back, once. It rests before it is handed out again. */
  give(port: number): void {
    const pair = (port - this.#first) / 2;
    if (this.#taken[pair] !== 1) throw new Error(`RTP port ${port} was given back but is not in use`);
    this.#taken[pair] = 0;
    this.#restedAt[pair] = this.#clock.now() + this.#restMs;
    this.#queue[(this.#head + this.#free) % this.#queue.length] = pair;
    this.#free++;
  }
}
