/**
 * Port pairs for RTP and RTCP: RTP on an even port, RTCP on the next one (RFC 3550 section 11). The worker's own
 * port range does not support pairs, so they are allocated here.
 *
 * Free pairs wait in a queue, so the longest free pair is used next; it must also have been unused for some time,
 * so that late packets of a call never reach the next one. The first pair of the queue is chosen at random: after
 * a restart, peers of earlier calls still send to their old ports.
 */

import { randomInt } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { CallRefused } from '../call/refused.ts';

export interface RtpPortsOptions {
  /** Lowest and highest allowed port; an odd `min` or even `max` loses a port. */
  readonly min: number;
  readonly max: number;
  /** Milliseconds that a pair stays unused after a call. */
  readonly restMs: number;
  readonly clock: Clock;
  /** 0 <= value < 1, for tests; default: the system's generator. */
  readonly random?: () => number;
}

export class RtpPorts {
  readonly #first: number;
  readonly #restMs: number;
  readonly #clock: Clock;
  /** Indexes of free pairs, a ring that starts at `#head`. */
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
        `RTP ports ${options.min} to ${options.max} contain no port pair: set RTP_PORT_MIN and RTP_PORT_MAX so that they include ` +
          'at least one even port and the next port',
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

  /** Total pairs. */
  get capacity(): number {
    return this.#queue.length;
  }

  /** Pairs handed out. */
  get inUse(): number {
    return this.#queue.length - this.#free;
  }

  /**
   * The RTP port of a free pair; RTCP is the port after it.
   * @throws CallRefused 503 when every pair is in use or was used too recently
   */
  take(): number {
    const pair = this.#queue[this.#head];
    if (this.#free === 0 || pair === undefined || (this.#restedAt[pair] ?? 0) > this.#clock.now()) {
      throw new CallRefused(
        503,
        `no RTP port is free: ${this.inUse} of ${this.capacity} pairs are in use and ${this.#free} were ` +
          'used too recently; widen RTP_PORT_MIN to RTP_PORT_MAX or lower the call limit',
      );
    }
    this.#head = (this.#head + 1) % this.#queue.length;
    this.#free--;
    this.#taken[pair] = 1;
    return this.#first + 2 * pair;
  }

  /** Returns a pair, once. It stays unused for `restMs`. */
  give(port: number): void {
    const pair = (port - this.#first) / 2;
    if (this.#taken[pair] !== 1) throw new Error(`RTP port ${port} was given back but is not in use`);
    this.#taken[pair] = 0;
    this.#restedAt[pair] = this.#clock.now() + this.#restMs;
    this.#queue[(this.#head + this.#free) % this.#queue.length] = pair;
    this.#free++;
  }
}
