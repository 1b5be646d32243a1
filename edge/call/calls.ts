/** All live calls of this edge. */
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import type { TerminationCode } from '#shared/termination.ts';
import { Call } from './call.ts';
import type { CallPlan } from './call-plan.ts';
import { CommandRefused } from './command-refused.ts';
import type { Termination } from './ending.ts';
import type { OutboundLimits } from './limits.ts';
import type { CallDeps, LiveCall } from './live-call.ts';
import { OutboundCall } from './outbound-call.ts';
import type { OutboundParts, OutboundPlan } from './outbound-plan.ts';
import type { CallLeg } from './ports/signaling.ts';
import type { TransferOrder } from './ports/transfer.ts';
import { type Full, fullFor, shareTaken } from './room.ts';
import { refusalOf } from './transfer/outcome.ts';
import { Transfer } from './transfer/transfer.ts';
import type { TransferParts } from './transfer/transfer-plan.ts';

export interface CallsDeps extends Omit<CallDeps, 'transfers'> {
  /** How many calls may be live at once. */
  readonly maxCalls: number;
  /** How many organizations have numbers; absent: one. */
  readonly organizations?: () => number;
  /** Called once for every call of ours that is not placed because its organization has taken its share. */
  readonly shareRefused?: () => void;
  /** What calls of ours need; absent: none are made. */
  readonly outbound?: OutboundParts;
  /** Asked before a call of ours is placed; absent: none is forbidden. */
  readonly limits?: Pick<OutboundLimits, 'admit' | 'release'>;
  /** Called once for every call that is over. */
  readonly onEnded?: (code: TerminationCode, answered: boolean) => void;
  /** Called once for every transfer that is decided. */
  readonly onTransfer?: TransferParts['decided'];
}

/** What one call that comes in may have of its own: the tested end of a test run. */
export type InboundChanges = Partial<Pick<CallDeps, 'agents' | 'media' | 'reporter'>>;

/** What one call of ours may have of its own; the rest is that of all calls. */
export type OutboundChanges = Partial<OutboundParts & Pick<CallDeps, 'agents' | 'media' | 'reporter'>>;

export class Calls {
  readonly #deps: CallsDeps & CallDeps;
  readonly #live = new Map<string, LiveCall>();
  /** Live calls by organization. */
  readonly #byOrganization = new Map<string, number>();
  #draining = false;
  #whenEmpty: (() => void) | null = null;

  constructor(deps: CallsDeps) {
    this.#deps = { ...deps, transfers: deps.outbound ? this.#transferParts(deps, deps.outbound) : null };
  }

  get size(): number {
    return this.#live.size;
  }

  /** The oldest calls, for the report of a fault: their ids, way and state. */
  underWay(): { oldest: { id: string; direction: string; answered: boolean }[] } {
    const oldest = [...this.#live.values()].slice(0, 100);
    return { oldest: oldest.map(({ id, direction, answered }) => ({ id, direction, answered })) };
  }

  get draining(): boolean {
    return this.#draining;
  }

  /**
   * Why nothing of a new call could be kept, one sentence; null: it can. Such a call is refused without a record,
   * which there would be no room for either.
   */
  get unrecordable(): string | null {
    return this.#deps.reporter.refusal ?? null;
  }

  /** Why no further call of this organization can be taken, null when one can. */
  closedFor(orgId: string): 'draining' | Full | null {
    return this.#draining ? 'draining' : this.#fullFor(orgId);
  }

  #fullFor(orgId: string): Full | null {
    const { maxCalls, organizations = () => 1 } = this.#deps;
    const ofOrganization = this.#byOrganization.get(orgId) ?? 0;
    return fullFor({ maxCalls, live: this.#live.size, ofOrganization, organizations: organizations() });
  }

  find(callId: string): LiveCall | undefined {
    return this.#live.get(callId);
  }

  /**
   * Takes a call.
   * @param codecs in order of preference; empty: the default list
   * @param changes to what calls need, for this one
   */
  admit(leg: CallLeg, plan: CallPlan, codecs: readonly CodecName[], changes: InboundChanges = {}): Call {
    const call = this.#create(leg, plan, codecs, changes);
    call.admit();
    return call;
  }

  /** Refuses a call to a number of ours, and reports it, so that its owner sees the attempt. */
  refuse(leg: CallLeg, plan: CallPlan, termination: Termination): void {
    this.#create(leg, plan, []).end(termination);
  }

  /**
   * Makes a call, or reports at once why it cannot be made.
   * @param changes to what calls of ours need, for this one: a test call has a route, an agent and a ring time of its own
   * @throws Error when this edge makes no calls, already has one with that id, or could not keep its reports
   */
  place(plan: OutboundPlan, changes: OutboundChanges = {}): OutboundCall {
    const { newId } = this.#deps;
    const own = Object.keys(changes).length > 0;
    // What is made to measure, a test call, is not for transfer.
    const deps = { ...this.#deps, ...changes, ...(own ? { transfers: null } : {}) };
    const outbound = this.#deps.outbound && { ...this.#deps.outbound, ...changes };
    if (!outbound) throw new Error('This edge makes no calls');
    if (this.#live.has(plan.callId)) throw new Error(`There is a call ${plan.callId} already`);
    if (!plan.leg && this.unrecordable !== null) throw new Error(this.unrecordable);
    // A leg to the target of a transfer is part of a call that may go on while the edge drains.
    const closed = plan.leg ? this.#fullFor(plan.orgId) : this.closedFor(plan.orgId);
    const call = new OutboundCall(plan, newId(), outbound, deps, (ended) => this.#remove(ended, plan.orgId));
    this.#add(call, plan.orgId);
    // A test run calls nobody but this edge: it costs nothing, and counts for no limit of outgoing calls.
    const limits = plan.testRunId === undefined ? this.#deps.limits : undefined;
    const refusal = closed === null ? limits?.admit(plan) : this.#refusalOf(closed);
    if (refusal) call.end(refusal);
    else call.place();
    return call;
  }

  /** Ends a call for the API; without effect when it is over. */
  stop(callId: string): void {
    this.#live.get(callId)?.end({ code: 'api_stop', detail: null });
  }

  /**
   * Begins to hand a call over for the API (contract 9.3); how that ends is reported with the call.
   * @throws CommandRefused when the transfer cannot begin, with the code of the reason where it has one
   */
  transfer(callId: string, order: TransferOrder): void {
    const begun = this.#live.get(callId)?.transfers.begin(order);
    if (!begun) throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is not live on this edge.');
    const outcome = begun instanceof Transfer ? begun.decided : begun;
    if (outcome?.ok === false) throw refusalOf(outcome);
  }

  #transferParts(deps: CallsDeps, outbound: OutboundParts): TransferParts {
    const { media, agents, newId } = deps;
    const { routes, followRefer = true, headersOf = () => ({}) } = outbound;
    const place: TransferParts['place'] = (plan) => this.place(plan);
    const decided = deps.onTransfer ?? (() => {});
    // One door for every call that costs: `place` for legs of ours, `admit` for what a peer calls in our name.
    const { limits } = deps;
    const admit: TransferParts['admit'] = (call) => limits?.admit(call) ?? null;
    const release: TransferParts['release'] = (callId, sent) => limits?.release(callId, sent);
    return { routes, media, agents, newId, followRefer, headersOf, admit, release, place, decided };
  }

  /** Ends every live call. */
  endAll(termination: Termination): void {
    for (const call of [...this.#live.values()]) call.end(termination);
  }

  /** Takes no more calls; resolves when the last one is over or, after `timeoutMs`, has been ended. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    if (this.#live.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#deps.clock.after(timeoutMs, () => {
        this.endRemaining('The edge was stopped while the call was up.');
        resolve();
      });
      this.#whenEmpty = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#whenEmpty = null;
  }

  /** Ends what is left of a drain: callers that wait for an answer are told to try elsewhere. */
  endRemaining(detail: string): void {
    for (const call of [...this.#live.values()]) {
      const ours = call.answered || call.direction === 'outbound';
      call.end({ code: ours ? 'edge_restarted' : 'draining', detail });
    }
  }

  #create(leg: CallLeg, plan: CallPlan, codecs: readonly CodecName[], changes: InboundChanges = {}): Call {
    const chosen = codecs.length > 0 ? codecs : defaultCodecs;
    const deps = { ...this.#deps, ...changes, ...(plan.testRunId === undefined ? {} : { transfers: null }) };
    const call = new Call(this.#deps.newId(), leg, plan, chosen, deps, (ended) =>
      this.#remove(ended, plan.orgId),
    );
    this.#add(call, plan.orgId);
    return call;
  }

  #refusalOf(closed: 'draining' | Full): Termination {
    if (closed !== 'organization_share') return { code: closed, detail: null };
    this.#deps.shareRefused?.();
    return { code: 'capacity', detail: shareTaken };
  }

  #add(call: LiveCall, orgId: string): void {
    this.#live.set(call.id, call);
    this.#byOrganization.set(orgId, (this.#byOrganization.get(orgId) ?? 0) + 1);
  }

  #remove(call: LiveCall, orgId: string): void {
    this.#live.delete(call.id);
    const left = (this.#byOrganization.get(orgId) ?? 0) - 1;
    if (left > 0) this.#byOrganization.set(orgId, left);
    else this.#byOrganization.delete(orgId);
    this.#deps.limits?.release(call.id, !(call instanceof OutboundCall) || call.dialled);
    if (call.termination) this.#deps.onEnded?.(call.termination, call.answered);
    if (this.#live.size === 0) this.#whenEmpty?.();
  }
}
