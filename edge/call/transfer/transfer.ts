/**
 * One transfer of one call (contract section 4): performs the actions of the state machine on the call, the target leg
 * and the bridge. The call's agent is silent from the start to the outcome.
 */

import { step } from '#shared/state-machine.ts';
import type { Termination } from '../ending.ts';
import type { Link, LiveCall } from '../live-call.ts';
import type { MediaBridge } from '../ports/media.ts';
import type { OutboundRoute } from '../ports/routes.ts';
import type { TransferOutcome } from '../ports/transfer.ts';
import { CallRefused } from '../refused.ts';
import { Joiner } from './joiner.ts';
import {
  callOver,
  endOfJoined,
  endOfTarget,
  type FailedTransfer,
  failure,
  outcomeOf,
  referStatus,
} from './outcome.ts';
import { attendedUri, blindUri, referEvents, referObstacle } from './referral.ts';
import { codecsFor, type Parting, type TargetPlan } from './target-plan.ts';
import type { TransferParts, TransferPlan, TransferWatch } from './transfer-plan.ts';
import { type TransferAction, type TransferInput, type TransferState, transfer } from './transfer-state.ts';

export class Transfer {
  readonly plan: TransferPlan;
  readonly outcome: Promise<TransferOutcome>;
  /** The outcome, once known. */
  decided: TransferOutcome | null = null;
  readonly #call: LiveCall;
  readonly #parts: TransferParts;
  readonly #resolve: (outcome: TransferOutcome) => void;
  readonly #decided: TransferWatch;
  #state: TransferState = 'begun';
  #target: LiveCall | null = null;
  /** Parties of the bridge that are held. */
  #holds = 0;
  #bridge: MediaBridge | null = null;
  #failure: FailedTransfer = callOver;
  /** The peer has accepted our REFER. */
  #accepted = false;
  #referred = false;
  /** Id under which our REFER counts against the call limits. */
  #admitted: string | null = null;
  /** What control says about it, while that is not known. */
  #asked: Promise<Termination | null> | null = null;
  /** The peer has hung up to complete the transfer. */
  #peerLeft = false;

  constructor(plan: TransferPlan, call: LiveCall, parts: TransferParts) {
    this.plan = plan;
    this.#call = call;
    this.#parts = parts;
    const { promise, resolve } = Promise.withResolvers<TransferOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#decided = parts.watch(plan.kind, call);
  }

  get state(): TransferState {
    return this.#state;
  }

  readonly parting: Parting = {
    isPossible: () => this.#state === 'joined' || this.#state === 'parted',
    part: () => {
      if (this.#holds++ === 0) this.#input('part');
    },
    rejoin: () => {
      if (--this.#holds === 0) this.#input('rejoin');
    },
  };

  /** A call that the peer makes for us counts against our limits; a consulted target is counted already. */
  #forbidden(): FailedTransfer | null {
    const { target, consult } = this.plan;
    if (consult || this.#admitted !== null) return null;
    const { orgId, number } = this.#call.plan;
    const callId = this.#parts.newId();
    const refusal = this.#parts.admit({ callId, orgId, from: number, to: target });
    if (refusal && !(refusal instanceof Promise)) return outcomeOf(refusal, false);
    this.#admitted = callId;
    this.#asked = refusal;
    return null;
  }

  /** Whether the transfer can start; otherwise it has failed already. */
  possible(): boolean {
    const refers = this.plan.kind === 'refer';
    const obstacle = refers ? (referObstacle(this.plan, this.#call, this.#parts) ?? this.#forbidden()) : null;
    if (obstacle) this.#fail(obstacle);
    return obstacle === null;
  }

  begin(): void {
    if (this.#state !== 'begun' || !this.possible()) return;
    if (!this.#asked) {
      this.#begin();
      return;
    }
    void this.#asked.then((refusal) => {
      if (this.#state !== 'begun') return;
      this.#call.guarded(() => {
        if (refusal) this.#fail(outcomeOf(refusal, false));
        else this.#begin();
      });
    });
  }

  #begin(): void {
    const { kind, target, consult, refer } = this.plan;
    // A peer that got a 503 continues with this call, so a target that answers later must not take it.
    refer?.onExpiry(() =>
      this.#call.guarded(() => this.#fail(failure('target_failed', 'The target did not answer in time.'))),
    );
    this.#call.log.info({ target, method: kind, consult: consult !== null }, 'transfer begins');
    this.#call.ledger.note(`Transferring the call to ${target}.`);
    this.#input(kind === 'refer' && !consult ? 'refer' : 'call');
  }

  /** What joins the call with its target; null: they are not bridged. @param from the one that asks */
  link(from: LiveCall): Link | null {
    const target = this.#target;
    if (!target || (from !== target && from !== this.#call) || !this.parting.isPossible()) return null;
    const other = from === target ? this.#call : target;
    const dissolve = () => {
      this.#input('dissolved');
      target.transfers.free();
    };
    return { other, parting: this.parting, dissolve };
  }

  /** The call leaves the target, whose leg ends. */
  drop(): void {
    this.#input('dropped');
  }

  /** The call is answered and its media runs. */
  callerUp(): void {
    if (this.#state === 'waiting') this.#input('bridge');
  }

  /** The peer hangs up. @returns whether that completes a transfer (RFC 5589 section 6.1) */
  callerLeft(): boolean {
    this.#peerLeft = true;
    if (this.#state === 'referring' && this.#accepted) this.#input('handed');
    else if (this.#state === 'calling' && this.plan.kind === 'follow') this.#input('move');
    else return false;
    return true;
  }

  /** The call is over. */
  callEnded(): void {
    this.#input('ended');
  }

  // ---------------------------------------------------------------- the state machine

  #input(input: TransferInput): void {
    const { to, actions } = step(transfer, this.#state, input);
    this.#state = to;
    for (const action of actions) this.#perform(action);
    if (this.#state === 'over') this.#decide(this.#failure);
  }

  #fail(failed: FailedTransfer, input: 'failed' | 'left' = 'failed'): void {
    // A leg that is being released reports its end too: the first reason wins.
    if (step(transfer, this.#state, input).to !== this.#state) this.#failure = failed;
    this.#input(input);
  }

  #perform(action: TransferAction): void {
    const call = this.#call;
    switch (action) {
      case 'pause':
        call.agent.pause();
        break;
      case 'call':
        this.#callTarget();
        break;
      case 'answer':
        call.answer();
        break;
      case 'bridge':
        this.#join().catch((error: unknown) => this.#notJoined(error));
        break;
      case 'part':
        this.#bridge?.close();
        call.agent.keepSilent();
        this.#target?.agent.keepSilent();
        break;
      case 'settle':
        this.#decide({ ok: true });
        break;
      case 'refer':
        this.#refer();
        break;
      case 'leave':
        this.#decide({ ok: true });
        this.#target?.transfers.leaveToPeer();
        if (!this.#peerLeft) call.end({ code: 'transferred', detail: null });
        break;
      case 'move':
        this.#moveAgent();
        break;
      case 'resume':
        call.agent.resume();
        break;
      case 'release':
        this.#bridge?.close();
        this.#target?.end(endOfTarget(call.termination, this.decided ? null : this.#failure.reason));
        break;
      case 'endCall':
        this.#bridge?.close();
        call.end(endOfJoined(this.#target?.termination ?? { code: 'callee_hangup', detail: null }));
        break;
    }
  }

  /** Reports the outcome of the transfer; the first one wins. */
  #decide(outcome: TransferOutcome): void {
    if (this.decided) return;
    this.decided = outcome;
    if (this.#admitted !== null) this.#parts.release(this.#admitted, this.#referred);
    const { kind, target, refer } = this.plan;
    const call = this.#call;
    if (outcome.ok) {
      call.ledger.handedOver(target);
      call.ledger.note(`Transferred the call to ${target}.`);
      if (kind !== 'follow') this.#dismissAgents();
      else if (this.#target?.up) refer?.notify(200, 'OK');
    } else {
      call.ledger.note(`The transfer to ${target} failed: ${outcome.reason}`);
      const { status, reason } = referStatus(outcome);
      refer?.notify(status, reason);
    }
    call.log.info({ target, method: kind, outcome }, 'transfer decided');
    this.#decided(outcome, this.#target?.id ?? null);
    this.#resolve(outcome);
  }

  #dismissAgents(): void {
    const reason = `The call was transferred to ${this.plan.target}.`;
    this.#target?.agent.dismiss(reason);
    this.#call.agent.dismiss(reason);
  }

  // ---------------------------------------------------------------- the target's leg

  #callTarget(): void {
    const call = this.#call;
    const { target, kind } = this.plan;
    const { orgId, number, agent } = call.plan;
    const leg = this.#parts.place({
      callId: this.#parts.newId(),
      orgId,
      from: number,
      to: target,
      agent: kind === 'follow' ? agent : null,
      variables: call.ledger.variables,
      leg: this.#targetPlan(),
    });
    if (this.#state !== 'over') this.#target = leg;
  }

  #targetPlan(): TargetPlan {
    const call = this.#call;
    const { kind, consult, refer } = this.plan;
    const joins = kind === 'bridge' || kind === 'fallback';
    return {
      parentId: call.id,
      trunkId: call.plan.trunkId,
      beside: joins ? call.media : null,
      replaces: refer?.replaces ?? null,
      referredBy: refer?.referredBy ?? null,
      deadline: kind === 'follow' ? call.limits.deadline : null,
      codecs: (route) =>
        joins ? codecsFor(call.media?.codec ?? null, route, this.#transcodes(route)) : route.codecs,
      speaker: (facts, host) =>
        consult
          ? this.#parts.agents.consult(consult, facts, host, call.plan.agent ?? undefined)
          : new Joiner(host),
      events: {
        ringing: () => refer?.notify(180, 'Ringing'),
        join: () => this.#taken(),
        parting: this.parting,
        recorded: kind === 'follow' && call.recording.isOn,
        ended: (termination) => {
          const consulted = consult !== null && this.#target?.answered === true;
          this.#fail(outcomeOf(termination, consulted), 'left');
        },
      },
    };
  }

  /** The target accepts the call. */
  #taken(): void {
    const { kind } = this.plan;
    if (kind === 'follow') this.#input('move');
    else if (kind === 'refer') this.#input('refer');
    else this.#input(this.#call.up ? 'bridge' : 'answer');
  }

  async #join(): Promise<void> {
    const one = this.#call.media;
    const other = this.#target?.media;
    if (!one || !other) throw new Error('a leg to bridge has no media');
    const bridge = await this.#parts.media.bridge(one, other, {
      transcode: this.#transcodes(this.#target?.hop?.route),
      failed: (error) => this.#call.end({ code: 'bridge_failed', detail: error.message }),
    });
    if (this.#state !== 'joining' && this.#state !== 'rejoining') return bridge.close();
    this.#bridge = bridge;
    this.#call.log.info({ mode: bridge.mode }, 'legs bridged');
    this.#input('joined');
  }

  #transcodes(route: Pick<OutboundRoute, 'transcode'> | undefined): boolean {
    return this.#call.facts.browser === true || route?.transcode === true;
  }

  #notJoined(error: unknown): void {
    const refused = error instanceof CallRefused;
    if (!refused) this.#call.log.error({ err: error }, 'legs cannot be bridged');
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#state === 'rejoining') this.#call.end({ code: 'bridge_failed', detail: reason });
    else this.#fail(failure('target_failed', reason, refused ? error.sipStatus : null));
  }

  #moveAgent(): void {
    const target = this.#target;
    if (!target) return;
    this.#call.agent.moveTo(target);
    this.#decide({ ok: true });
    if (!this.#peerLeft) this.#call.transfers.leaveToPeer();
  }

  // ---------------------------------------------------------------- REFER

  #refer(): void {
    const { consult, target: named } = this.plan;
    const call = this.#call;
    const target = consult ? attendedUri(this.#target?.dialog.leg) : blindUri(named, call, this.#parts);
    const { leg } = call.dialog;
    if (target === null || !leg) {
      this.#fail(failure('target_failed', 'There is no dialog for the peer to replace.'));
      return;
    }
    const events = referEvents({
      accepted: () => {
        this.#accepted = true;
      },
      progress: (status, reason) => call.log.info({ status, reason }, 'the peer calls the target'),
      handed: () => this.#input('handed'),
      failed: (failed) => this.#fail(failed),
    });
    this.#referred = true;
    leg.refer({ target }, events);
  }
}
