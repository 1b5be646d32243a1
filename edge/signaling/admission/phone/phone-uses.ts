/**
 * How many calls phone sessions have made at this edge. A session is accepted by one edge alone, so this is its whole
 * count. It is kept in memory: what the edge did before its last start is unknown, and no session from then is accepted.
 */
import type { Clock } from '#shared/clock.ts';
import type { PhoneClaims } from '#shared/phone-session.ts';

/** Sessions that are remembered, each until it expires. About 5 MB. */
const mostSessions = 20_000;

interface Used {
  readonly issuedAt: number;
  readonly expiresAt: number;
  calls: number;
}

export class PhoneUses {
  readonly #clock: Clock;
  readonly #most: number;
  /** By session, in the order of first calls. */
  readonly #used = new Map<string, Used>();
  /** Sessions issued before this are not accepted unless they are remembered: what they were used for is unknown. */
  #knownFrom: number;

  /** @param most sessions that are remembered */
  constructor(clock: Clock, most = mostSessions) {
    this.#clock = clock;
    this.#most = most;
    this.#knownFrom = Math.floor(clock.now());
  }

  /** Number of remembered sessions. */
  get size(): number {
    return this.#used.size;
  }

  /** Whether the session may make another call: not all of its calls are made, or how many were is unknown. */
  state({ id, issued_at, calls }: PhoneClaims): 'free' | 'used_up' | 'unknown' {
    const used = this.#used.get(id);
    if (used) return used.calls < calls ? 'free' : 'used_up';
    return issued_at < this.#knownFrom ? 'unknown' : 'free';
  }

  /** Counts a call. */
  count({ id, issued_at, expires_at }: PhoneClaims): void {
    const used = this.#used.get(id);
    if (used) {
      used.calls++;
      return;
    }
    this.#makeRoom();
    this.#used.set(id, { issuedAt: issued_at, expiresAt: expires_at, calls: 1 });
  }

  #makeRoom(): void {
    const now = this.#clock.now();
    for (const [id, { issuedAt, expiresAt }] of this.#used) {
      const isExpired = expiresAt <= now;
      if (!isExpired && this.#used.size < this.#most) return;
      // One that is forgotten before it expires must not be accepted again, nor any that is older.
      if (!isExpired) this.#knownFrom = Math.max(this.#knownFrom, issuedAt + 1);
      this.#used.delete(id);
    }
  }
}
