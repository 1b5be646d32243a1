import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import { ticks } from './keepalive.ts';

/**
 * Octets that may stay queued for a peer indefinitely: they cost no more than the connection, which has its own
 * timeouts.
 */
const LITTLE = 4_096;

/** What waits for a peer: octets that it has not read, and answers that its requests will have. Times are ticks. */
export class SendBacklog {
  readonly #limits: Pick<TransportLimits, 'writeTimeoutMs'>;
  /** Octets of answers that requests of the peer will have. */
  #owed = 0;
  #paused = false;
  /** Octets written; of them those taken at the last look; and the tick of that look. */
  #sentBytes = 0;
  #takenBytes = Number.NEGATIVE_INFINITY;
  #takenAt: number;

  constructor(limits: Pick<TransportLimits, 'writeTimeoutMs'>, tick: number) {
    this.#limits = limits;
    this.#takenAt = tick;
  }

  get owed(): number {
    return this.#owed;
  }

  /** Whether requests of the peer are not read. */
  get paused(): boolean {
    return this.#paused;
  }

  owe(bytes: number): void {
    this.#owed += bytes;
  }

  settle(bytes: number): void {
    this.#owed = Math.max(0, this.#owed - bytes);
  }

  /** Octets that wait for the peer, and answers that its requests will have; 0: little. */
  waiting(queued: number): number {
    const waiting = this.#owed + queued;
    return waiting < LITTLE ? 0 : waiting;
  }

  /** @param queued octets that waited before these */
  wrote(bytes: number, queued: number, tick: number): void {
    if (queued === 0) this.#takenAt = tick;
    this.#sentBytes += bytes;
  }

  /**
   * Whether to stop or to continue reading. It stops at half of what may wait, so that what is sent without a request
   * has room, and continues at a quarter.
   */
  pace(queued: number, most: number): 'pause' | 'resume' | null {
    const waiting = this.#owed + queued;
    if (!this.#paused && waiting > most / 2) {
      this.#paused = true;
      return 'pause';
    }
    if (!this.#paused || waiting > most / 4) return null;
    this.#paused = false;
    return 'resume';
  }

  /** Whether the peer has taken nothing of what waits for it for too long. */
  stalls(queued: number, tick: number): boolean {
    const taken = this.#sentBytes - queued;
    if (queued < LITTLE || taken > this.#takenBytes) {
      this.#takenBytes = taken;
      this.#takenAt = tick;
    }
    return tick - this.#takenAt >= ticks(this.#limits.writeTimeoutMs);
  }
}
