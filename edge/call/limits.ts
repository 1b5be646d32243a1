/**
 * Caps against toll fraud (docs/call-limits.md): concurrent calls and calls per minute of an organization and a number,
 * and allowed destinations. Checked once per outbound call, before anything is sent.
 *
 * With several edges, control counts the calls of all: a call waits for its answer. What control cannot say, this edge
 * decides with its fair share of the limit.
 *
 * Calls count from admission to release. Rejected calls and calls that ended before anything
 * was sent do not, so a client that keeps retrying gets through as soon as there is room.
 */
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { CallAnswer, CallScope, HeldCalls } from '#shared/edge-protocol/fleet.ts';
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
  /** The calls of all edges; absent: this edge counts alone. */
  readonly fleet?: CountsOfFleet;
}

export interface CountsOfFleet {
  /** Edges that share the limits; 1: this one counts alone. */
  readonly edges: number;
  ask(scopes: readonly CallScope[]): Promise<Pick<CallAnswer, 'answer' | 'scope' | 'reason'>>;
  begun(scopes: readonly string[]): void;
  over(scopes: readonly string[], sent: boolean): void;
}

interface Admission {
  readonly scopes: readonly string[];
  readonly at: number;
  /** The scopes in which control counts it. */
  told: readonly string[];
  /** Whether control is being asked. */
  waits: boolean;
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

interface Violation {
  readonly reason: LimitReason;
  readonly limit: number | string;
  readonly detail: string;
}

const windowMs = 60_000;

function violationOf(reason: 'concurrent' | 'per_minute', whose: string, limit: number): Violation {
  const what = counted(limit, reason === 'concurrent' ? 'concurrent call' : 'call');
  const within = reason === 'concurrent' ? '' : ' started within 60 s';
  return { reason, limit, detail: `The ${whose} has reached its limit of ${what}${within}.` };
}

/** What one of several edges may use of a limit on its own. A limit of 0 forbids every call. */
function fairShare(limit: number, edges: number): number {
  return edges === 1 || limit === 0 ? limit : Math.max(1, Math.floor(limit / edges));
}

/** The scopes that have a limit to count against. */
function limited(scopes: readonly Scope[]): CallScope[] {
  return scopes
    .map(({ key, limits: { concurrent = null, per_minute = null } }) => ({
      scope: key,
      concurrent,
      per_minute,
    }))
    .filter(({ concurrent, per_minute }) => concurrent !== null || per_minute !== null);
}

export class OutboundLimits {
  readonly #options: OutboundLimitsOptions;
  readonly #tallies = new Map<string, Tally>();
  readonly #admitted = new Map<string, Admission>();
  #sweptAt = 0;

  constructor(options: OutboundLimitsOptions) {
    this.#options = options;
  }

  /** Counts a call, unless this edge's share of a limit forbids it. */
  #admitFairly(call: Candidate): Termination | null {
    const scopes = this.#scopes(call);
    const refusal = this.#check(call, scopes, this.#isShared);
    if (refusal) return refusal;
    this.#count(call, scopes);
    if (this.#isShared) this.#tell(call.callId, limited(scopes));
    return null;
  }

  /**
   * Counts a call, unless a limit forbids it; asks control when other edges share the limit. A counted call must be
   * released. One that is released while it waits is not counted.
   * @returns the termination of a forbidden call, null for a counted one
   */
  admit(call: Candidate): Termination | null | Promise<Termination | null> {
    const scopes = this.#scopes(call);
    const { fleet } = this.#options;
    const asked = limited(scopes);
    if (!fleet || fleet.edges < 2 || asked.length === 0) return this.#admitFairly(call);
    const refusal = this.#check(call, scopes, false);
    if (refusal) return refusal;
    const admission = this.#count(call, scopes);
    admission.waits = true;
    return fleet.ask(asked).then((verdict) => {
      admission.waits = false;
      const isOver = this.#admitted.get(call.callId) !== admission;
      if (verdict.answer === 'counted') {
        const told = asked.map(({ scope }) => scope);
        if (isOver) fleet.over(told, false);
        else admission.told = told;
        return null;
      }
      if (isOver) return null;
      this.release(call.callId, false);
      const full = scopes.find(({ key }) => key === verdict.scope);
      if (full && verdict.reason) {
        return this.#refuse(
          call,
          full,
          violationOf(verdict.reason, full.whose, full.limits[verdict.reason] ?? 0),
        );
      }
      return this.#admitFairly(call);
    });
  }

  /** What this edge holds, and control counts from now on: all but calls that wait for control's answer. */
  held(): HeldCalls[] {
    const now = this.#options.clock.elapsed();
    const decided = [...this.#admitted.values()].filter(({ waits }) => !waits);
    for (const admission of decided) admission.told = admission.scopes;
    return [...this.#tallies].map(([scope, tally]) => {
      this.#recent(tally);
      const waiting = [...tally.live].flatMap((id) => {
        const admission = this.#admitted.get(id);
        return admission?.waits ? [admission.at] : [];
      });
      const begun = [...tally.begun];
      for (const at of waiting) {
        const index = begun.lastIndexOf(at);
        if (index >= 0) begun.splice(index, 1);
      }
      const started_ms_ago = begun.map((at) => Math.round(now - at));
      return { scope, live: tally.live.size - waiting.length, started_ms_ago };
    });
  }

  /** Whether other edges have a part of the limits. */
  get #isShared(): boolean {
    return (this.#options.fleet?.edges ?? 1) > 1;
  }

  /** @param fairly whether only this edge's share of the limits may be used */
  #check(call: Candidate, scopes: readonly Scope[], fairly: boolean): Termination | null {
    this.#sweep();
    for (const scope of scopes) {
      const found = this.#violation(scope, call.to, fairly ? (this.#options.fleet?.edges ?? 1) : 1);
      if (found) return this.#refuse(call, scope, found);
    }
    return null;
  }

  #count(call: Candidate, scopes: readonly Scope[]): Admission {
    const now = this.#options.clock.elapsed();
    for (const { key } of scopes) {
      const tally = this.#tally(key);
      tally.live.add(call.callId);
      tally.begun.push(now);
    }
    const admission: Admission = { scopes: scopes.map(({ key }) => key), at: now, told: [], waits: false };
    this.#admitted.set(call.callId, admission);
    return admission;
  }

  #tell(callId: string, asked: readonly CallScope[]): void {
    const admission = this.#admitted.get(callId);
    if (!admission || asked.length === 0) return;
    admission.told = asked.map(({ scope }) => scope);
    this.#options.fleet?.begun(admission.told);
  }

  /**
   * The call is over; no effect for a call that was not counted or already released.
   * @param sent whether anything of it was sent; if not, it does not count as started
   */
  release(callId: string, sent: boolean): void {
    const { scopes, at, told } = this.#admitted.get(callId) ?? { scopes: [], at: 0, told: [] };
    if (told.length > 0 && this.#isShared) this.#options.fleet?.over(told, sent);
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

  #violation({ key, whose, limits }: Scope, to: string, edges: number): Violation | null {
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
    if (typeof concurrent === 'number' && tally.live.size >= fairShare(concurrent, edges))
      return violationOf('concurrent', whose, concurrent);
    if (typeof perMinute === 'number' && this.#recent(tally) >= fairShare(perMinute, edges))
      return violationOf('per_minute', whose, perMinute);
    return null;
  }

  #refuse(
    { callId, orgId, from, to }: Candidate,
    { whose }: Scope,
    { reason, limit, detail }: Violation,
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
