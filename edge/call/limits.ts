/**
 * Caps against toll fraud (docs/call-limits.md): concurrent calls and calls per minute of an organization and a number,
 * and allowed destinations. Checked once per outbound call, before anything is sent.
 *
 * Only calls placed by this edge count, from admission to release. Rejected calls and calls that ended before anything
 * was sent do not, so a client that keeps retrying gets through as soon as there is room.
 */
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import type { Termination } from './ending.ts';
import { forbiddenBecause } from './limits-destination.ts';
import type { Log } from './log.ts';

/** A call that is about to be placed. */
interface Candidate {
  readonly callId: string;
  readonly orgId: string;
  /** The attached number that places the call, E.164 with plus. */
  readonly from: string;
  /** E.164, an extension, or a SIP URI. */
  readonly to: string;
}

export type LimitReason = 'concurrent' | 'per_minute' | 'prefix';

export interface OutboundLimitsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Read at every call, so a new configuration applies to the next one. */
  readonly organization: (orgId: string) => CallLimits | undefined;
  readonly number: (number: string) => CallLimits | undefined;
  /** Counts rejections. */
  readonly refused: (reason: LimitReason) => void;
}

/** Calls of an organization or of a number. */
interface Tally {
  /** Ids of calls that have not ended. */
  readonly live: Set<string>;
  /** Times of admission within the window, ms, oldest first. */
  begun: number[];
}

interface Scope {
  readonly key: string;
  /** Name for messages. */
  readonly whose: string;
  readonly limits: CallLimits;
}

const windowMs = 60_000;

export class OutboundLimits {
  readonly #options: OutboundLimitsOptions;
  readonly #tallies = new Map<string, Tally>();
  readonly #admitted = new Map<string, { readonly scopes: readonly string[]; readonly at: number }>();
  #sweptAt = 0;

  constructor(options: OutboundLimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts a call, unless a limit forbids it. A counted call must be released.
   * @returns the termination of a forbidden call, null for a counted one
   */
  admit(call: Candidate): Termination | null {
    this.#sweep();
    const scopes = this.#scopes(call);
    for (const scope of scopes) {
      const found = this.#violation(scope, call.to);
      if (found) return this.#refuse(call, scope, found);
    }
    const now = this.#options.clock.elapsed();
    for (const { key } of scopes) {
      const tally = this.#tally(key);
      tally.live.add(call.callId);
      tally.begun.push(now);
    }
    this.#admitted.set(call.callId, { scopes: scopes.map(({ key }) => key), at: now });
    return null;
  }

  /**
   * The call is over; no effect for a call that was not counted or already released.
   * @param sent whether anything of it was sent; if not, it does not count as started
   */
  release(callId: string, sent: boolean): void {
    const { scopes, at } = this.#admitted.get(callId) ?? { scopes: [], at: 0 };
    this.#admitted.delete(callId);
    for (const key of scopes) {
      const tally = this.#tallies.get(key);
      tally?.live.delete(callId);
      const index = sent ? -1 : (tally?.begun.lastIndexOf(at) ?? -1);
      if (index >= 0) tally?.begun.splice(index, 1);
    }
  }

  /** Organizations and numbers remembered: a leak check. */
  get size(): number {
    return this.#tallies.size;
  }

  #scopes({ orgId, from }: Candidate): Scope[] {
    const { organization, number } = this.#options;
    return [
      { key: `organization ${orgId}`, whose: 'organization', limits: organization(orgId) ?? {} },
      { key: `number ${from}`, whose: `number ${from}`, limits: number(from) ?? {} },
    ];
  }

  #violation(
    { key, whose, limits }: Scope,
    to: string,
  ): { reason: LimitReason; limit: number | string; detail: string } | null {
    const forbidden = forbiddenBecause(to, limits);
    if (forbidden !== null) {
      return {
        reason: 'prefix',
        limit: forbidden,
        detail: `The call limits of the ${whose} block this destination: ${forbidden}.`,
      };
    }
    const { concurrent, per_minute: perMinute } = limits;
    // Without a tally the count is 0, and a limit of 0 still forbids the call.
    const tally = this.#tallies.get(key) ?? { live: new Set(), begun: [] };
    if (typeof concurrent === 'number' && tally.live.size >= concurrent) {
      const detail = `The ${whose} has reached its limit of ${counted(concurrent, 'concurrent call')}.`;
      return { reason: 'concurrent', limit: concurrent, detail };
    }
    if (typeof perMinute === 'number' && this.#recent(tally) >= perMinute) {
      const detail = `The ${whose} has reached its limit of ${counted(perMinute, 'call')} started within 60 s.`;
      return { reason: 'per_minute', limit: perMinute, detail };
    }
    return null;
  }

  #refuse(
    { callId, orgId, from, to }: Candidate,
    { whose }: Scope,
    { reason, limit, detail }: { reason: LimitReason; limit: number | string; detail: string },
  ): Termination {
    const { log, refused } = this.#options;
    log.warn(
      { call_id: callId, org_id: orgId, number: from, to, limit_of: whose, limit: reason, value: limit },
      'call rejected by a call limit',
    );
    refused(reason);
    return { code: reason === 'prefix' ? 'destination_blocked' : 'call_limit', detail };
  }

  #tally(key: string): Tally {
    const tally = this.#tallies.get(key) ?? { live: new Set(), begun: [] };
    this.#tallies.set(key, tally);
    return tally;
  }

  /** Calls started within the window; drops older ones. */
  #recent(tally: Tally): number {
    const now = this.#options.clock.elapsed();
    tally.begun = tally.begun.filter((at) => at > now - windowMs);
    return tally.begun.length;
  }

  /** Once per window: drops tallies without recent calls. */
  #sweep(): void {
    const now = this.#options.clock.elapsed();
    if (now - this.#sweptAt < windowMs) return;
    this.#sweptAt = now;
    for (const [key, tally] of this.#tallies) {
      if (this.#recent(tally) === 0 && tally.live.size === 0) this.#tallies.delete(key);
    }
  }
}
