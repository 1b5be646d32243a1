/** What calls in both directions share: media, agent, transfers, timers, the record. The owner makes the decisions. */

import type { Timer } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import { counted } from '#shared/counted.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import { terminations } from '#shared/termination.ts';
import { agentHost } from './agent-host.ts';
import { AnsweredDialog, type InDialogEvents } from './answered-dialog.ts';
import { CallAgent } from './call-agent.ts';
import { CallLedger } from './call-ledger.ts';
import type { CallPlan } from './call-plan.ts';
import { CallRefused } from './call-refused.ts';
import type { Termination } from './ending.ts';
import type { CallDeps } from './live-call.ts';
import type { Log } from './log.ts';
import type { MediaLeg, MediaLegOptions } from './ports/media.ts';
import type { CallLeg, DialogLeg, LegFacts } from './ports/signaling.ts';
import { callFacts, mappableVariables } from './record.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { TransferredCall } from './transfer/transferred-call.ts';
import { Transfers } from './transfer/transfers.ts';

/** A peer that was transferred hangs up itself; after this many ms we send the BYE. */
const leaveAfterMs = 2_000;

/** The call that owns this body. */
export interface BodyOwner {
  readonly facts: LegFacts;
  readonly plan: CallPlan;
  readonly state: string;
  /** The dialog as it is now; null before there is one. */
  readonly leg: DialogLeg | null;
  /** Continues the call on `leg`; the previous dialog gets a BYE. */
  goOnOver(leg: CallLeg): void;
  /** Answers an inbound call that its agent has not answered. */
  answer?(): void;
  end(termination: Termination): void;
  accepts(input: 'hold' | 'resume'): boolean;
  input(input: 'hold' | 'resume'): void;
}

/**
 * Interval at which a silent peer on hold is probed, ms: a vanished peer costs only minutes, and the probes stay rare.
 * No media is due on hold, so this is independent of `MEDIA_TIMEOUT_S`.
 */
const usualHoldQuestionMs = 60_000;

export class CallBody implements TransferredCall {
  readonly id: string;
  log: Log;
  /** Why the call ends; the first reason wins. */
  termination: Termination | null = null;
  media: MediaLeg | null = null;
  readonly agent: CallAgent;
  readonly transfers: Transfers;
  readonly ledger: CallLedger;
  readonly #owner: BodyOwner;
  readonly #deps: CallDeps;
  readonly #timers = new Set<Timer>();
  readonly #silence: SilenceWatch;
  readonly #dialog: AnsweredDialog;
  #up = false;
  #leaving = false;
  #keysNoted = false;
  /** When the maximum duration expires. */
  #deadline: number | null = null;

  constructor(id: string, owner: BodyOwner, log: Log, deps: CallDeps) {
    this.id = id;
    this.log = log;
    this.#owner = owner;
    this.#deps = deps;
    this.ledger = new CallLedger(id, this, deps);
    const { mediaTimeoutMs, prepareTimeoutMs, holdQuestionMs = usualHoldQuestionMs } = deps.settings;
    this.agent = new CallAgent(this, agentHost(this), deps.agents, prepareTimeoutMs);
    this.#silence = new SilenceWatch(
      deps.clock,
      { mediaMs: mediaTimeoutMs, holdMs: holdQuestionMs },
      {
        silentForMs: () => this.media?.silentForMs() ?? 0,
        ask: (answered) => this.#askPeer(answered),
      },
      {
        silent: () =>
          owner.end({ code: 'media_timeout', detail: `No RTP arrived for ${mediaTimeoutMs / 1000} s.` }),
        gone: (why) => owner.end({ code: 'peer_gone', detail: why }),
      },
    );
    this.#dialog = new AnsweredDialog(this, (leg) => owner.goOnOver(leg));
    this.transfers = new Transfers(this, deps.transfers, owner.plan.parentId !== undefined);
  }

  get facts(): LegFacts {
    return this.#owner.facts;
  }

  get plan(): CallPlan {
    return this.#owner.plan;
  }

  get leg(): DialogLeg | null {
    return this.#owner.leg;
  }

  get deadline(): number | null {
    return this.#deadline;
  }

  /** Whether agent and peer can hear each other. */
  get up(): boolean {
    return this.#up && this.termination === null;
  }

  /** Whether the peer was transferred and is about to hang up. */
  get leaving(): boolean {
    return this.#leaving;
  }

  get answered(): boolean {
    return this.ledger.answered;
  }

  // ---------------------------------------------------------------- before the answer

  /**
   * Creates the media leg of this call.
   * @param beside media leg that this one will be bridged to
   * @throws CallRefused 503 when no RTP port pair is free
   */
  createMedia(codecs: readonly CodecName[], beside?: MediaLegOptions['beside']): Promise<MediaLeg> {
    return this.#deps.media.createLeg({
      callId: this.id,
      codecs,
      beside,
      failed: (error) => this.#owner.end({ code: 'internal_error', detail: error.message }),
    });
  }

  /** The fallback transfer asks to answer the call. */
  answer(): void {
    this.#owner.answer?.();
  }

  /** Ends the call after an error in preparation or start. */
  failed(error: unknown): void {
    if (this.termination) {
      // When a call ends during preparation, the resources in use are closed and their errors mean nothing.
      this.log.debug({ err: error }, 'preparation ended with the call');
      return;
    }
    if (error instanceof CallRefused) {
      this.log.info({ sip_status: error.sipStatus, reason: error.message }, 'media refused');
      const code = this.answered ? 'bad_answer' : error.sipStatus === 503 ? 'no_media_port' : 'media_refused';
      const warning = error.warning === undefined ? {} : { warning: error.warning };
      // An outbound call records the status it received, and here it received none.
      const status = this.#owner.facts.direction === 'inbound' ? { sipStatus: error.sipStatus } : {};
      this.#owner.end({ code, detail: error.message, ...status, ...warning });
      return;
    }
    this.log.error({ err: error }, 'call failed');
    this.#owner.end({ code: 'internal_error', detail: messageOf(error) });
  }

  // ---------------------------------------------------------------- while it is up

  /** The call is answered: its duration starts. */
  begin(): void {
    this.ledger.answer();
    const { plan } = this.#owner;
    const minutes = plan.agent?.max_duration ?? 0;
    if (minutes > 0) {
      const now = this.#deps.clock.elapsed();
      const deadline = plan.deadline ?? now + minutes * 60_000;
      this.#deadline = deadline;
      this.after(Math.max(0, deadline - now), () =>
        this.#owner.end({ code: 'max_duration', detail: `It lasted ${counted(minutes, 'minute')}.` }),
      );
    }
    this.log.info({ codec: this.media?.codec ?? null }, 'call answered');
    this.ledger.report();
  }

  /** Connects agent and media. */
  start(): void {
    this.#up = true;
    this.#silence.expectMedia();
    this.#noteKeys();
    this.agent.start();
    this.followHold();
    this.transfers.callerUp();
  }

  /** Notes once in the transcript that this call cannot carry key presses. */
  #noteKeys(): void {
    if (this.#keysNoted || this.media?.keys !== 'none') return;
    this.#keysNoted = true;
    this.log.info({}, 'keys are impossible: the SDP of the peer has no telephone-event');
    this.ledger.note(
      "Keys are impossible on this call: the peer's SDP has no telephone-event (RFC 4733), and keys by SIP INFO are not taken.",
    );
  }

  followHold(): void {
    if (this.#up) this.#noteKeys();
    const input = this.media?.held === true ? 'hold' : 'resume';
    if (!this.#owner.accepts(input)) return;
    if (input === 'hold') this.#silence.expectNothing();
    else this.#silence.expectMedia();
    this.#owner.input(input);
  }

  /** The answer is dropped when another dialog has replaced this one in the meantime. */
  #askPeer(answered: (gone: string | null) => void): void {
    const { leg } = this;
    if (!leg) {
      answered(null);
      return;
    }
    leg.ask((gone) => this.guarded(() => answered(leg === this.leg ? gone : null)));
  }

  /**
   * Handlers for events of the answered dialog.
   * @param hungUp meaning of the peer's BYE when it does not complete a transfer
   */
  dialogEvents(hungUp: 'caller_hangup' | 'callee_hangup'): InDialogEvents {
    return this.#dialog.events(hungUp);
  }

  // ---------------------------------------------------------------- transfers

  /** Moves the agent, with its state, to the peer of `other`. */
  moveAgentTo(other: TransferredCall): void {
    other.ledger.extracted = this.ledger.extracted;
    other.transfers.free();
    this.agent.moveTo(other.agent);
  }

  /** Records the target that the peer was transferred to. */
  handedOver(target: string): void {
    this.ledger.transferredTo = target;
    if (!this.ledger.closed) this.ledger.report();
  }

  /** Ends the call as transferred: the peer sends BYE, or we do shortly after. */
  leaveToPeer(): void {
    if (this.termination) return;
    this.#leaving = true;
    this.after(leaveAfterMs, () => this.end({ code: 'transferred', detail: null }));
  }

  /** Variables of the call. Header variables override request_data; variables the agent extracted override both. */
  get variables(): CallVariables {
    const { plan, facts } = this.#owner;
    return { ...callFacts(this.id, facts, plan).variables, ...this.ledger.extracted };
  }

  /** Variables that header mappings may use. */
  mappable(): CallVariables {
    const { facts, plan } = this.#owner;
    return { ...this.ledger.extracted, ...mappableVariables(this.id, facts, plan, this.#deps.clock.now()) };
  }

  // ---------------------------------------------------------------- the end

  end(termination: Termination): void {
    this.#owner.end(termination);
  }

  /**
   * Stops timers and transfer, closes the agent, stores the closed record (it has the media's statistics), closes the
   * media. The BYE or refusal follows.
   */
  finish(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#silence.stop();
    this.attempt('end the transfer', () => this.transfers.callEnded());
    this.agent.close(this.why);
    this.ledger.close();
    this.attempt('close the media', () => this.media?.close());
    const { termination } = this;
    if (termination) this.attempt('tell the transfer', () => this.#owner.plan.transfer?.ended(termination));
    this.log.info(
      { termination: this.termination?.code, detail: this.termination?.detail, answered: this.answered },
      'call ended',
    );
  }

  /** Why the call ended, in one sentence. */
  get why(): string {
    const code = this.termination?.code ?? 'internal_error';
    return this.termination?.detail ?? terminations[code].summary;
  }

  // ---------------------------------------------------------------- helpers

  after(ms: number, fire: () => void): Timer {
    const timer = this.#deps.clock.after(ms, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    timer.cancel();
    this.#timers.delete(timer);
  }

  /** Runs `work` and logs a failure, so that the other parts are still closed and the peer still gets its BYE. */
  attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.log.error({ err: error }, `could not ${what}`);
    }
  }

  /** Runs an event handler; a bug or a failed report in it ends only this call. */
  guarded(work: () => void): void {
    const { state } = this.#owner;
    try {
      work();
    } catch (error) {
      this.log.error({ err: error, state }, 'call logic failed');
      if (this.#owner.state === 'ended' || this.termination) return;
      this.#owner.end({ code: 'internal_error', detail: messageOf(error) });
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
