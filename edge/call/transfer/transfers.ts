/**
 * The transfers of one call, one at a time: who may start one, and how they use the call's events.
 *
 * A call is reported as in progress when it is answered, and can be transferred from that report on. Until the ACK and
 * the agent are there, nothing can be sent to the peer, so a transfer ordered earlier waits for them.
 */

import { isPlace } from '#shared/call-target.ts';
import { reasonPhrase } from '../ending.ts';
import type { Link, LiveCall, LivePairing } from '../live-call.ts';
import type { PeerRefer } from '../ports/refer.ts';
import type { DialogLeg } from '../ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from '../ports/transfer.ts';
import { joinAtPeersOrder, joinObstacle } from './attended.ts';
import { callOver, type FailedTransfer, failure } from './outcome.ts';
import type { Parting } from './target-plan.ts';
import { Transfer } from './transfer.ts';
import type { TransferParts, TransferPlan } from './transfer-plan.ts';

/** A peer that was transferred hangs up itself; after this many ms we send the BYE. */
const leaveAfterMs = 2_000;

/** Length of a rejected target in the transcript, characters. */
const longestShown = 200;

export class Transfers {
  readonly #call: LiveCall;
  readonly #parts: TransferParts | null;
  #current: Transfer | null = null;
  /** Whether the current one waits for the call to be up. */
  #early = false;
  /** Carries out the entry of a place that waits for the call to be up, or to end. */
  #whenUp: (() => void) | null = null;
  /** Whether the call is the target leg of another call's transfer. */
  #bound: boolean;
  #leaving = false;
  /** The call that this one is joined with, without a transfer. */
  #pairing: LivePairing | null = null;
  /** It is being joined with another one at the peer's order. */
  #reserved = false;
  /** Waits for the outcome of that. */
  #postponed: (() => void) | null = null;

  /** @param parts null: outbound calls are disabled, and so are transfers */
  constructor(call: LiveCall, parts: TransferParts | null) {
    this.#call = call;
    this.#parts = parts;
    this.#bound = call.plan.parentId !== undefined;
  }

  /** Whether the call is the target leg of another call's transfer, and ends with it. */
  get bound(): boolean {
    return this.#bound;
  }

  /** Whether the peer was transferred and is about to hang up. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Whether the call must not be changed now; a bridged call can be. */
  get busy(): boolean {
    if (this.#reserved) return true;
    return this.#current !== null && this.#current.state !== 'joined' && this.#current.state !== 'over';
  }

  /** Whether it is about to be joined with another call, which may fail. */
  get joining(): boolean {
    return this.#paired?.joining === true;
  }

  /** The other calls that it is joined with, without a transfer. */
  get company(): readonly LiveCall[] {
    return this.#paired?.company(this.#call.id) ?? [];
  }

  /** Why it cannot be transferred or joined now, a sentence; null: it can. */
  get obstacle(): string | null {
    if (this.#call.plan.supervises) return 'It is the call of a supervisor.';
    if (this.#bound) return 'It is the leg to the target of a transfer.';
    if (this.#leaving) return 'It was transferred, and is about to end.';
    if (this.#paired) return this.#paired.describe(this.#call.id);
    if (this.#reserved) return 'Another transfer of it is in progress.';
    if (this.#current?.parting.isPossible()) return `It is bridged with ${this.#current.plan.target}.`;
    return this.#idle ? null : 'Another transfer of it is in progress.';
  }

  /** How a bridged call is held; null when it is not bridged. */
  get parting(): Parting | null {
    const { transfer } = this.#call.plan;
    if (this.#bound) return transfer?.parting ?? null;
    if (this.#paired) return this.#paired.parting;
    return this.busy || this.#current?.state === 'joined' ? (this.#current?.parting ?? null) : null;
  }

  /** What joins it with one other call, in the place of its agent; null: it is with its agent, or several hear it. */
  get link(): Link | null {
    const call = this.#call;
    const { parentId } = call.plan;
    if (this.#bound && parentId !== undefined)
      return this.#parts?.find(parentId)?.transfers.linkTo(call) ?? null;
    const pairing = this.#paired;
    const [other] = pairing?.company(call.id) ?? [];
    if (!pairing || !other) return this.linkTo(call);
    const { parting } = pairing;
    if (pairing.inRoom || !parting.isPossible()) return null;
    return { other, parting, dissolve: () => pairing.dissolve() };
  }

  /** What joins the call with the target of its transfer. @param from the one of them that asks */
  linkTo(from: LiveCall): Link | null {
    return this.#current?.link(from) ?? null;
  }

  /** Whether it is connected to one other call, in the place of its agent. */
  get withOne(): boolean {
    return this.#paired?.inRoom !== true && this.parting?.isPossible() === true;
  }

  /** The outcome of a transfer under way that takes the call from its agent; null when there is none. */
  get handingOver(): Promise<TransferOutcome> | null {
    const current = this.#current;
    return current && this.busy && current.plan.kind !== 'follow' ? current.outcome : null;
  }

  /** Unbinds the call: it continues independently. */
  free(): void {
    this.#bound = false;
  }

  /** A transfer ordered by the agent. Never rejects. */
  order(order: TransferOrder): Promise<TransferOutcome> {
    const entered = this.entry(order, 'agent');
    if (entered) return entered;
    let begun: Transfer | FailedTransfer = callOver;
    this.#call.guarded(() => {
      begun = this.begin(order);
    });
    return outcomeOfBegun(begun);
  }

  /** The outcome of an order to enter a place on this edge; null: somebody is to be called. */
  entry({ target, method, consult }: TransferOrder, by: 'agent' | 'api'): Promise<TransferOutcome> | null {
    if (!this.#parts || !isPlace(target)) return null;
    if (method === 'refer' || consult) return Promise.resolve(onlyForCalls);
    const { answered, up, termination } = this.#call;
    if (!answered) return Promise.resolve(callOver);
    const { enter } = this.#parts;
    if (up || termination) return enter(target, this.#call, by);
    if (this.#whenUp) return Promise.resolve(failure('not_active', 'Another transfer waits for the call.'));
    return new Promise((resolve) => {
      this.#whenUp = () => resolve(enter(target, this.#call, by));
    });
  }

  /** @returns the transfer, or why there is none */
  begin({ method, target, consult }: TransferOrder): Transfer | FailedTransfer {
    const { answered, termination } = this.#call;
    if (!answered || termination) return failure('not_active', 'The call is not in progress.');
    const { obstacle } = this;
    if (obstacle !== null) return failure('not_active', `The call cannot be transferred: ${obstacle}`);
    return this.#begin({ kind: method, target, consult });
  }

  /** Calls the fallback number because the agent of an unanswered call cannot speak. */
  fallBack(target: string): Promise<TransferOutcome> {
    return outcomeOfBegun(this.#begin({ kind: 'fallback', target, consult: null }));
  }

  /** REFER from the peer: followed to targets its configuration reaches, otherwise rejected (contract section 4). */
  referred(refer: PeerRefer, replacing: DialogLeg | null = null) {
    const { plan, dialog, up } = this.#call;
    if (!this.#parts?.followRefer) return this.#refuse(refer, 403, 'REFER is disabled on this edge.');
    const { routes, callOf } = this.#parts;
    const other = replacing && callOf(replacing, plan.orgId);
    const verdict = routes.followable(plan.number, plan.trunkId, refer.target, dialog.peerIp, other !== null);
    if (!verdict.allowed) return this.#refuse(refer, 403, verdict.reason);
    if (other) return this.#join(refer, other, this.#parts);
    if (this.busy || !up) return this.#refuse(refer, 491, 'The call is not up, or is being transferred.');
    // Neither of two bridged peers may transfer the other.
    if (!this.#idle) return this.#refuse(refer, 603, 'The call is bridged with another one.');
    // Nobody would speak with the target.
    if (!this.#call.agent.present) return this.#refuse(refer, 603, 'The call has no agent any more.');
    refer.accept();
    this.#begin({ kind: 'follow', target: verdict.to, consult: null, refer });
  }

  #join(refer: PeerRefer, other: LiveCall, parts: TransferParts) {
    const obstacle = joinObstacle(this.#call, other);
    if (obstacle) return this.#refuse(refer, obstacle.status, obstacle.why);
    refer.accept();
    void joinAtPeersOrder(refer, this.#call, other, parts);
  }

  /** Until `release`, nothing else begins with the call. */
  reserve(): void {
    this.#reserved = true;
  }

  release(): void {
    const postponed = this.#postponed;
    this.#reserved = false;
    this.#postponed = null;
    postponed?.();
  }

  /** @returns whether `work` waits until the call is not reserved any more */
  postpone(work: () => void): boolean {
    if (this.#reserved) this.#postponed = work;
    return this.#reserved;
  }

  /** Signaling rejected a REFER from the peer: no transfer, but the same notes. */
  referRefused(target: string, reason: string): void {
    const { log, ledger } = this.#call;
    log.info({ target, reason }, 'REFER refused');
    ledger.note(`The peer asked to be transferred to ${shown(target)}, which was rejected: ${reason}`);
    this.#parts?.watch('follow', this.#call)(failure('target_not_allowed', reason), null);
  }

  #refuse(refer: PeerRefer, status: 403 | 491 | 603, why: string): void {
    refer.refuse(status, reasonPhrase(status), why);
    this.referRefused(refer.target, why);
  }

  /** The call's media runs. */
  callerUp(): void {
    const begins = this.#early;
    this.#early = false;
    if (begins) this.#current?.begin();
    else this.#current?.callerUp();
    this.#enterNow();
  }

  #enterNow(): void {
    this.#whenUp?.();
    this.#whenUp = null;
  }

  /** The peer hangs up. @returns whether that completes a transfer */
  callerLeft(): boolean {
    return this.#current?.callerLeft() === true;
  }

  /** Ends the call as transferred: the peer sends BYE, or we do shortly after. */
  leaveToPeer(): void {
    const call = this.#call;
    if (call.termination) return;
    this.#leaving = true;
    call.limits.after(leaveAfterMs, () => call.end({ code: 'transferred', detail: null }));
  }

  callEnded(): void {
    this.#current?.callEnded();
    this.#pairing?.left(this.#call.id);
    this.#enterNow();
  }

  /** @returns false when the call is being transferred, or is joined with another one already */
  pairWith(pairing: LivePairing): boolean {
    if (!this.#idle) return false;
    this.#pairing = pairing;
    for (const call of [this.#call, ...this.company]) call.recording.followOthers();
    return true;
  }

  /** Ends the leg or the call that this one is joined with. @returns whether the call is alone */
  goAlone(): boolean {
    if (this.#bound || this.#leaving) return false;
    this.#paired?.left(this.#call.id);
    if (this.#current?.parting.isPossible()) this.#current.drop();
    return this.#idle;
  }

  get #paired(): LivePairing | null {
    return this.#pairing?.over === false ? this.#pairing : null;
  }

  get #idle(): boolean {
    const free = !this.#bound && !this.#leaving && this.#paired === null;
    return free && (this.#current?.state ?? 'over') === 'over';
  }

  #begin(plan: TransferPlan): Transfer | FailedTransfer {
    const parts = this.#parts;
    const call = this.#call;
    if (!parts) return failure('no_route', 'Outbound calls are disabled on this edge.');
    const { parked } = call.hold;
    call.hold.release();
    const transfer = new Transfer(plan, call, parts);
    this.#current = transfer;
    if (parked) void transfer.outcome.then(({ ok }) => ok || call.guarded(() => parts.repark(call, parked)));
    this.#early = plan.kind !== 'fallback' && !this.#call.up && transfer.possible();
    if (!this.#early) transfer.begin();
    return transfer;
  }
}

const onlyForCalls = failure(
  'target_not_allowed',
  'A transfer to a slot or a conference calls nobody: it takes no REFER, no announcement and no key.',
);

/** The peer's text, sanitized and shortened for a transcript. */
function shown(target: string): string {
  const printable = target.replace(/[^\x20-\x7e]/g, '');
  return printable === '' ? 'nobody' : printable.slice(0, longestShown);
}

function outcomeOfBegun(begun: Transfer | FailedTransfer): Promise<TransferOutcome> {
  return begun instanceof Transfer ? begun.outcome : Promise.resolve(begun);
}
