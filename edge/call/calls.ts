/** All live calls of this edge. */
import { conferenceOf, slotOf } from '#shared/call-target.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { TracedCall } from '#shared/tracing/tracing.ts';
import { Call, type CallBeginning } from './call.ts';
import type { CallDeps, OutboundParts } from './call-deps.ts';
import { type CallPlan, type OutboundPlan, outboundCallPlan } from './call-plan.ts';
import { type Full, fullFor, shareTaken } from './capacity.ts';
import { Conferences, type ConferencesDeps } from './conference/conferences.ts';
import { conferenceLimits } from './conference/limits.ts';
import type { Termination } from './ending.ts';
import type { OutboundLimits } from './limits.ts';
import type { LiveCall } from './live-call.ts';
import type { Soon } from './ports/media.ts';
import type { ParkOrder } from './ports/park.ts';
import type { ByeExtras, CallLeg, LegFacts } from './ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from './ports/transfer.ts';
import { CommandRefused } from './refused.ts';
import { retrieve } from './retrieval.ts';
import { InboundSetup } from './setup/inbound-setup.ts';
import { OutboundSetup } from './setup/outbound-setup.ts';
import type { Setup } from './setup/setup.ts';
import { supervisionLimits } from './supervision/limits.ts';
import { Supervisions, type SupervisionsDeps } from './supervision/supervisions.ts';
import { failure, refusalOf } from './transfer/outcome.ts';
import { Transfer } from './transfer/transfer.ts';
import type { TransferParts } from './transfer/transfer-plan.ts';

export interface CallsDeps
  extends Omit<CallDeps, 'transfers' | 'supervisions'>,
    Partial<Pick<ConferencesDeps, 'conferenceLimits' | 'conferenceRefused'>>,
    Partial<Pick<SupervisionsDeps, 'supervisionLimits' | 'supervisionRefused' | 'speak'>> {
  /** Maximum number of live calls. */
  readonly maxCalls: number;
  /** Number of organizations that have phone numbers; absent: one. */
  readonly organizations?: () => number;
  /** Called once for every outbound call rejected because its organization has used its share. */
  readonly shareRefused?: () => void;
  /** What outbound calls need; absent: outbound calls are disabled. */
  readonly outbound?: OutboundParts;
  /** Checked before an outbound call is placed; absent: no limits. */
  readonly limits?: Pick<OutboundLimits, 'admit' | 'release'>;
  /** Called once for every call that is over. */
  readonly onEnded?: (code: TerminationCode, answered: boolean) => void;
  /** The same, for its trace. */
  readonly traced?: (call: TracedCall) => void;
  /** See TransferParts. */
  readonly onTransfer?: TransferParts['watch'];
  /** Called when the last call of a draining edge is over. */
  readonly drained?: () => void;
}

/** Overrides for one inbound call: the tested end of a test run. */
export type InboundChanges = Partial<Pick<CallDeps, 'agents' | 'media' | 'reporter'>>;

/** Overrides for one outbound call. */
export type OutboundChanges = Partial<OutboundParts & Pick<CallDeps, 'agents' | 'media' | 'reporter'>>;

export class Calls {
  readonly #deps: CallsDeps & CallDeps;
  readonly conferences: Conferences;
  readonly supervisions: Supervisions;
  readonly #live = new Map<string, Call>();
  /** Live calls by organization. */
  readonly #byOrganization = new Map<string, number>();
  /** The edge is about to stop. */
  #stopping = false;
  /** The operator has taken the edge out of service. */
  #outOfService = false;
  #whenEmpty: (() => void) | null = null;

  constructor(deps: CallsDeps) {
    this.conferences = new Conferences({ conferenceLimits, conferenceRefused: () => {}, ...deps });
    this.supervisions = new Supervisions(
      { supervisionLimits, supervisionRefused: () => {}, ...deps },
      (callId) => this.#live.get(callId),
    );
    const { supervisions } = this;
    this.#deps = {
      ...deps,
      supervisions,
      transfers: deps.outbound ? this.#transferParts(deps, deps.outbound) : null,
    };
  }

  get size(): number {
    return this.#live.size;
  }

  /** The oldest live calls, for a fault report: id, direction and whether answered. */
  underWay(): { oldest: { id: string; direction: string; answered: boolean }[] } {
    const oldest = [...this.#live.values()].slice(0, 100);
    return { oldest: oldest.map(({ id, direction, answered }) => ({ id, direction, answered })) };
  }

  /** Whether new calls are rejected while those that are up go on. */
  get draining(): boolean {
    return this.#stopping || this.#outOfService;
  }

  /** Drains until the operator puts the edge back into service. @returns whether that is a change */
  setOutOfService(outOfService: boolean): boolean {
    const isChange = this.#outOfService !== outOfService;
    this.#outOfService = outOfService;
    return isChange;
  }

  /**
   * Why records of a new call could not be stored, one sentence; null: they can. Such a call is rejected without a
   * record, because there would be no room for that either.
   */
  get unrecordable(): string | null {
    return this.#deps.reporter.refusal ?? null;
  }

  /** Why this organization cannot have another call; null when it can. */
  closedFor(orgId: string): 'draining' | Full | null {
    return this.draining ? 'draining' : this.#fullFor(orgId);
  }

  #fullFor(orgId: string): Full | null {
    const { maxCalls, organizations = () => 1 } = this.#deps;
    const ofOrganization = this.#byOrganization.get(orgId) ?? 0;
    return fullFor({ maxCalls, live: this.#live.size, ofOrganization, organizations: organizations() });
  }

  find(callId: string): Call | undefined {
    return this.#live.get(callId);
  }

  /**
   * Takes a call.
   * @param codecs in order of preference; empty: the default list
   * @param changes overrides for this call
   */
  admit(leg: CallLeg, plan: CallPlan, codecs: readonly CodecName[], changes: InboundChanges = {}): Call {
    const call = this.#create(leg, plan, codecs, changes);
    call.begin();
    return call;
  }

  /** Rejects a call to one of our numbers, and reports it so that its owner sees the attempt. */
  refuse(leg: CallLeg, plan: CallPlan, termination: Termination): void {
    this.#create(leg, plan, []).end(termination);
  }

  /**
   * Places a call, or reports at once why it cannot be placed.
   * @param changes overrides for this call: those of tests have their own route, agent and ring time
   * @throws Error when outbound calls are disabled, the id is in use, or reports cannot be stored
   */
  place(plan: OutboundPlan, changes: OutboundChanges = {}): Call {
    const { newId } = this.#deps;
    const own = Object.keys(changes).length > 0;
    // Calls of tests exist to measure, and cannot be transferred.
    const deps = { ...this.#deps, ...changes, ...(own ? { transfers: null } : {}) };
    const outbound = this.#deps.outbound && { ...this.#deps.outbound, ...changes };
    if (!outbound) throw new Error('Outbound calls are disabled on this edge');
    if (this.#live.has(plan.callId)) throw new Error(`Call ${plan.callId} already exists`);
    if (!plan.leg && this.unrecordable !== null) throw new Error(this.unrecordable);
    // The leg to a transfer target belongs to a call that may continue while the edge drains.
    const closed = plan.leg ? this.#fullFor(plan.orgId) : this.closedFor(plan.orgId);
    const call = this.#add(
      { id: plan.callId, plan: outboundCallPlan(plan), facts: outboundFacts(plan, newId()) },
      (added) => new OutboundSetup(added, plan, outbound, deps.clock),
      deps,
    );
    // A test run with a route of its own calls only this edge: it costs nothing and counts against no outbound limit.
    const limits = plan.testRunId === undefined || !changes.routes ? this.#deps.limits : undefined;
    const refusal = closed === null ? (limits?.admit(plan) ?? null) : this.#refusalOf(closed);
    const decide = (verdict: Termination | null) => {
      if (verdict) call.end(verdict);
      else call.begin();
    };
    if (!(refusal instanceof Promise)) decide(refusal);
    else {
      // It may have ended while control was asked.
      void refusal.then((verdict) => {
        if (this.#live.get(call.id) === call) call.guarded(() => decide(verdict));
      });
    }
    return call;
  }

  /** Ends a call for the API; no effect when it is over. */
  stop(callId: string, bye: ByeExtras = {}): void {
    this.#live.get(callId)?.end({ code: 'api_stop', detail: null, bye });
  }

  /**
   * Starts a transfer for the API (contract 9.3); the outcome is reported with the call.
   * @throws CommandRefused when the transfer cannot start, with an API error code if there is one; for a place on
   * this edge the promise rejects with it
   */
  transfer(callId: string, order: TransferOrder): Soon<undefined> {
    const call = this.#live.get(callId);
    const entered = call?.transfers.entry(order, 'api');
    if (entered) return entered.then(demandOk);
    const begun = call?.transfers.begin(order);
    if (!begun) throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is not live on this edge.');
    const outcome = begun instanceof Transfer ? begun.decided : begun;
    if (outcome) demandOk(outcome);
    return undefined;
  }

  /**
   * Pauses or resumes the recording of a call for the API.
   * @throws CommandRefused when the call is over, or is not recorded
   */
  record(callId: string, action: 'pause' | 'resume'): void {
    const call = this.#live.get(callId);
    if (!call) throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is not live on this edge.');
    if (!call.recording.carryOut(action))
      throw new CommandRefused('RECORDING_NOT_ACTIVE', 'The call is not being recorded.');
  }

  /**
   * Puts a call on hold for the API, or ends its hold.
   * @throws CommandRefused when the call is not up, is being transferred, or has nobody to go on with
   */
  hold(callId: string, action: 'hold' | 'resume'): void {
    const call = this.#live.get(callId);
    if (action === 'resume' && call?.up) {
      if (call.hold.obstacle) throw call.hold.obstacle;
      call.hold.release();
    } else if (action === 'resume' || !call?.hold.begin())
      throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is not up, or is being transferred.');
  }

  /**
   * Parks a call for the API.
   * @throws CommandRefused when the slot is taken by another call, or the call cannot be parked
   */
  park(callId: string, order: ParkOrder): void {
    const call = this.#live.get(callId);
    const there = call && this.#parkedIn(call.plan.orgId, order.slot);
    if (there && there !== call)
      throw new CommandRefused('PARK_SLOT_TAKEN', `Call ${there.id} is parked in slot ${order.slot}.`);
    if (!call?.hold.park(order))
      throw new CommandRefused(
        'CALL_NOT_ACTIVE',
        'The call is not up, is being transferred, or is the leg of a transfer.',
      );
  }

  /**
   * Joins a parked call with another one of its organization, for the API.
   * @param by null: its agent
   * @throws CommandRefused when it is not parked, or they cannot be joined
   */
  async retrieve(callId: string, by: string | null): Promise<void> {
    const parked = this.#live.get(callId);
    if (!parked || parked.hold.slot === null)
      throw new CommandRefused('CALL_NOT_PARKED', 'The call is not parked on this edge.');
    if (by === null) return this.hold(callId, 'resume');
    const other = this.#live.get(by);
    if (!other || other.plan.orgId !== parked.plan.orgId)
      throw new CommandRefused('CALL_NOT_ACTIVE', 'The call that retrieves is not live on this edge.');
    const outcome = await retrieve(parked, other, this.#deps.media);
    demandOk(outcome);
  }

  /** After a transfer that failed: it returns to its agent, or ends, when another call has its slot by now. */
  #repark(call: LiveCall, order: ParkOrder): void {
    if (!call.up) return;
    const { slot } = order;
    const there = this.#parkedIn(call.plan.orgId, slot);
    if (!there) this.park(call.id, order);
    else if (!call.agent.present)
      call.end({ code: 'park_timeout', detail: `Slot ${slot} was taken by call ${there.id} meanwhile.` });
  }

  /** A transfer to the slot of a parked call or to a conference. Never rejects. */
  async #enter(place: string, call: LiveCall, by: 'agent' | 'api'): Promise<TransferOutcome> {
    const slot = slotOf(place);
    const conference = conferenceOf(place);
    if (conference) return this.conferences.join(conference, call, by);
    if (slot === null) throw new Error(`${place} is no place`);
    const parked = this.#parkedIn(call.plan.orgId, slot);
    if (!parked) return failure('not_parked', `No call is parked in slot ${slot}.`);
    return retrieve(parked, call, this.#deps.media);
  }

  #parkedIn(orgId: string, slot: string): Call | undefined {
    if (!this.#byOrganization.has(orgId)) return undefined;
    return [...this.#live.values()].find((call) => call.plan.orgId === orgId && call.hold.slot === slot);
  }

  #transferParts(deps: CallsDeps, outbound: OutboundParts): TransferParts {
    const { media, agents, newId } = deps;
    const { routes, followRefer = true, headersOf = () => ({}) } = outbound;
    // Every call that costs money passes here: `place` for our own legs, `admit` for calls a peer makes for us.
    const { limits } = deps;
    return {
      routes,
      media,
      agents,
      newId,
      followRefer,
      headersOf,
      admit: (call) => limits?.admit(call) ?? null,
      release: (callId, sent) => limits?.release(callId, sent),
      place: (plan) => this.place(plan),
      agentChanged: (call) => this.supervisions.agentChanged(call),
      watch: deps.onTransfer ?? (() => () => {}),
      enter: (...order) => this.#enter(...order),
      find: (callId) => this.#live.get(callId) ?? null,
      callOf: (leg, orgId) =>
        [...this.#live.values()].find(({ dialog, plan }) => dialog.leg === leg && plan.orgId === orgId) ??
        null,
      repark: (call, order) => this.#repark(call, order),
    };
  }

  /** Ends every live call. */
  endAll(termination: Termination): void {
    for (const call of [...this.#live.values()]) call.end(termination);
  }

  /** Takes no more calls. Resolves when the last one is over; calls left after `timeoutMs` are ended. */
  async drain(timeoutMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#live.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#deps.clock.after(timeoutMs, () => {
        this.endRemaining('The edge was stopped while the call was up.');
        void Promise.all([...this.#live.values()].map(({ closing }) => closing)).then(() => resolve());
      });
      this.#whenEmpty = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#whenEmpty = null;
  }

  /** Ends the calls left after a drain; unanswered callers get a 503 so that they try elsewhere. */
  endRemaining(detail: string): void {
    for (const call of [...this.#live.values()]) {
      const ours = call.answered || call.direction === 'outbound';
      call.end({ code: ours ? 'edge_restarted' : 'draining', detail });
    }
  }

  #create(leg: CallLeg, plan: CallPlan, codecs: readonly CodecName[], changes: InboundChanges = {}): Call {
    const deps = { ...this.#deps, ...changes, ...(plan.testRunId === undefined ? {} : { transfers: null }) };
    const { ringAfterMs } = deps.settings;
    return this.#add(
      { id: deps.newId(), plan, facts: leg.facts },
      (call) => new InboundSetup(call, leg, codecs, ringAfterMs),
      deps,
    );
  }

  #refusalOf(closed: 'draining' | Full): Termination {
    if (closed !== 'organization_share') return { code: closed, detail: null };
    this.#deps.shareRefused?.();
    return { code: 'capacity', detail: shareTaken };
  }

  #add(beginning: CallBeginning, setup: (call: Call) => Setup, deps: CallDeps): Call {
    const call = new Call(beginning, setup, deps, (ended) => this.#remove(ended));
    const { orgId } = beginning.plan;
    this.#live.set(call.id, call);
    this.#byOrganization.set(orgId, (this.#byOrganization.get(orgId) ?? 0) + 1);
    return call;
  }

  #remove(call: Call): void {
    const { orgId } = call.plan;
    this.#live.delete(call.id);
    const left = (this.#byOrganization.get(orgId) ?? 0) - 1;
    if (left > 0) this.#byOrganization.set(orgId, left);
    else this.#byOrganization.delete(orgId);
    this.#deps.limits?.release(call.id, call.dialled);
    if (call.termination) this.#over(call, call.termination.code);
    if (this.#live.size > 0) return;
    this.#whenEmpty?.();
    if (this.draining) this.#deps.drained?.();
  }

  #over(
    { id: callId, plan: { orgId }, direction, answered, ledger }: Call,
    termination: TerminationCode,
  ): void {
    this.#deps.onEnded?.(termination, answered);
    this.#deps.traced?.({ callId, orgId, direction, answered, termination, ...ledger.times });
  }
}

/** @throws CommandRefused when it is a failure */
function demandOk(outcome: TransferOutcome): undefined {
  if (!outcome.ok) throw refusalOf(outcome);
}

/** @param sipCallId Call-ID of all INVITEs of the call */
function outboundFacts({ from, to }: OutboundPlan, sipCallId: string): LegFacts {
  return { sipCallId, direction: 'outbound', from, to, sourceIp: null, offer: null };
}
