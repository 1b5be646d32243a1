/**
 * One call, in either direction: its state, record, dialog, media, agent, limits and end.
 *
 *     INVITE ──> offered ── preparing ── ringing ── answering ── answered ──┐     hold
 *                └──────────────────── InboundSetup ─────────────────────┘  ├─> up <──> held
 *     command ─> queued ─── dialling ─── ringing ─────────────── answered ──┘   resume
 *                └──────────────────── OutboundSetup ────────────────────┘
 *
 *     the agent hangs up or fails         agent-seat.ts ──────────────────────┐
 *     the peer: BYE, CANCEL, dialog lost  call-dialog.ts, setup/ ─────────────┤
 *     not answered, media rejected        setup/ ─────────────────────────────┼─> end(termination) ──> ended
 *     maximum duration, silence           time-limits.ts, silence-watch.ts ───┤
 *     a transfer                          transfer/ ──────────────────────────┤
 *     the call that it supervises         supervision/ ───────────────────────┤
 *     the API, drain, engine lost         calls.ts ───────────────────────────┘
 *
 *     end: set-up ─> timers ─> transfer ─> supervisors ─> agent ─> closed record ─> media ─> BYE, CANCEL or rejection
 *
 * `end` is the only way to end a call, and `#finish` the only place that closes its parts. call-state.ts has the states
 * with their moves; docs/internals/closing.md says what else closes with a call.
 */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import { accepts, step } from '#shared/state-machine.ts';
import { terminations } from '#shared/termination.ts';
import { CallAgent } from './call-agent.ts';
import type { CallDeps } from './call-deps.ts';
import { CallDialog } from './call-dialog.ts';
import { CallHold } from './call-hold.ts';
import { CallLedger } from './call-ledger.ts';
import type { CallPlan } from './call-plan.ts';
import { CallRecording } from './call-recording.ts';
import type { CallAction, CallInput, CallState } from './call-state.ts';
import { inputFor, internalError, type Termination, terminationOf } from './ending.ts';
import type { LiveCall } from './live-call.ts';
import { type Log, LogWith } from './log.ts';
import { CallMeasurements } from './measured/call-measurements.ts';
import type { MediaLeg, MediaLegOptions } from './ports/media.ts';
import type { NextHop } from './ports/routes.ts';
import type { LegFacts } from './ports/signaling.ts';
import { BrowserLost, CallRefused } from './refused.ts';
import type { Setup } from './setup/setup.ts';
import { TimeLimits } from './time-limits.ts';
import { Transfers } from './transfer/transfers.ts';

/**
 * Time for the media's counts to arrive at the end of a call, ms. They take a few; a thread that compiles code or waits for
 * the CPU takes longer, and the peer's BYE waits for its 200 meanwhile.
 */
const mostReportMs = 400;

/** What is known of a call when it begins. */
export interface CallBeginning {
  readonly id: string;
  readonly plan: CallPlan;
  readonly facts: LegFacts;
}

export class Call implements LiveCall {
  readonly id: string;
  readonly ledger: CallLedger;
  readonly measurements: CallMeasurements;
  readonly agent: CallAgent;
  readonly transfers: Transfers;
  readonly limits: TimeLimits;
  readonly dialog: CallDialog;
  readonly recording: CallRecording;
  readonly hold: CallHold;
  /** Whether an INVITE of ours was sent. */
  dialled = false;
  readonly #deps: CallDeps;
  readonly #setup: Setup;
  readonly #ended: (call: Call) => void;
  #log: Log;
  #plan: CallPlan;
  #facts: LegFacts;
  #state: CallState;
  #termination: Termination | null = null;
  #media: MediaLeg | null = null;
  #hop: NextHop | null = null;
  #started = false;
  #closing: Promise<undefined> | null = null;

  /**
   * Nothing happens until `begin` or `end`.
   * @param ended called once, when everything of the call is released
   */
  constructor(
    { id, plan, facts }: CallBeginning,
    setup: (call: Call) => Setup,
    deps: CallDeps,
    ended: (call: Call) => void,
  ) {
    this.id = id;
    this.#plan = plan;
    this.#facts = facts;
    this.#deps = deps;
    this.#ended = ended;
    this.#log = this.#newLog();
    this.ledger = new CallLedger(this, deps);
    this.measurements = new CallMeasurements(this, deps);
    this.agent = new CallAgent(this, deps);
    this.limits = new TimeLimits(this, deps);
    this.dialog = new CallDialog(this);
    this.recording = new CallRecording(this, deps);
    this.hold = new CallHold(this);
    this.transfers = new Transfers(this, deps.transfers);
    this.#setup = setup(this);
    this.#state = this.#setup.first;
  }

  get direction(): LegFacts['direction'] {
    return this.#facts.direction;
  }

  get state(): CallState {
    return this.#state;
  }

  get plan(): CallPlan {
    return this.#plan;
  }

  /** Facts of the INVITE that set the call up; they stay when another dialog replaces the first. */
  get facts(): LegFacts {
    return this.#facts;
  }

  get log(): Log {
    return this.#log;
  }

  get media(): MediaLeg | null {
    return this.#media;
  }

  /** The endpoint of an outbound call's last attempt. */
  get hop(): NextHop | null {
    return this.#hop;
  }

  get answered(): boolean {
    return this.ledger.answered;
  }

  /** Whether agent and peer can hear each other. */
  get up(): boolean {
    return this.#started && this.#termination === null;
  }

  /** Why the call ends; null while it is live. The first reason wins. */
  get termination(): Termination | null {
    return this.#termination;
  }

  get closing(): Promise<undefined> | null {
    return this.#closing;
  }

  /** Why the call ended, in one sentence. */
  get why(): string {
    return this.#termination?.detail ?? terminations[this.#termination?.code ?? 'internal_error'].summary;
  }

  // ---------------------------------------------------------------- the state machine

  begin(): void {
    this.guarded(() => this.#setup.begin());
  }

  accepts(input: CallInput): boolean {
    return accepts(this.#setup.machine, this.#state, input);
  }

  /** @throws IllegalMove when the call is in no state for it */
  input(input: CallInput): void {
    const { to, actions } = step(this.#setup.machine, this.#state, input);
    const before = this.#state;
    this.#state = to;
    this.#carryOut(actions, to === 'ended' && before !== 'ended');
  }

  /** @param isLast whether the call is over with these; they wait until the closed record is stored */
  #carryOut(actions: readonly CallAction[], isLast: boolean): void {
    const waiting = [...actions];
    try {
      while (!this.#closing && waiting.length > 0) this.#perform(waiting.shift() ?? 'finish');
    } finally {
      if (this.#closing) void this.#closing.then(() => this.guarded(() => this.#carryOut(waiting, isLast)));
      else if (isLast) this.#ended(this);
    }
  }

  #perform(action: CallAction): void {
    switch (action) {
      case 'begin':
        this.#begin();
        break;
      case 'finish':
        this.#finish();
        break;
      case 'bye':
        this.dialog.leg?.bye(this.why, this.#termination?.bye);
        break;
      default:
        this.#setup.perform(action);
    }
  }

  // ---------------------------------------------------------------- before the answer

  /** An outbound call goes to this endpoint now. */
  useHop(hop: NextHop): void {
    this.#hop = hop;
    this.#plan = { ...this.#plan, trunkId: hop.route.trunkId };
    this.#facts = { ...this.#facts, sourceIp: hop.target.address ?? null };
    this.#log = this.#newLog();
    this.ledger.queued = false;
    this.ledger.report();
  }

  #newLog(): Log {
    return new LogWith(this.#deps.log, {
      call_id: this.id,
      trunk_id: this.#plan.trunkId,
      sip_call_id: this.#facts.sipCallId,
    });
  }

  /**
   * Creates the media leg of this call; a previous one is closed.
   * @param beside media leg that this one will be bridged to
   * @returns null when the call has ended in the meantime
   * @throws CallRefused 503 when no RTP port pair is free
   */
  async createMedia(
    codecs: readonly CodecName[],
    beside?: MediaLegOptions['beside'],
  ): Promise<MediaLeg | null> {
    const media = await this.#deps.media.createLeg({
      callId: this.id,
      orgId: this.#plan.orgId,
      codecs,
      browser: this.#facts.browser,
      beside,
      parentId: this.#plan.parentId,
      sampled: (sample) => this.measurements.sample(sample),
      failed: (error) =>
        this.end({
          code: error instanceof BrowserLost ? 'browser_lost' : 'media_lost',
          detail: error.message,
        }),
    });
    if (this.#termination) {
      media.close();
      return null;
    }
    this.#media?.close();
    this.#media = media;
    return media;
  }

  /** Answers an inbound call: its agent is ready, or the fallback that takes it. */
  answer(): void {
    if (!this.answered) this.guarded(() => this.input('ready'));
  }

  // ---------------------------------------------------------------- while it is up

  /** The call is answered: its duration starts. */
  #begin(): void {
    this.ledger.answer();
    this.limits.answered();
    this.#log.info({ codec: this.#media?.codec ?? null }, 'call answered');
    this.ledger.report();
  }

  /** Connects agent and media. */
  start(): void {
    this.#started = true;
    this.limits.silence.expectMedia();
    this.dialog.noteKeys();
    this.agent.start();
    this.recording.start();
    this.dialog.followHold();
    this.transfers.callerUp();
    this.#deps.supervisions.join(this);
  }

  // ---------------------------------------------------------------- the end

  /** Ends the call in any state. The first reason wins. */
  end(termination: Termination): void {
    this.guarded(() => {
      this.#termination ??= termination;
      this.input(inputFor(termination));
    });
  }

  /** Ends the call after an error in preparation or start. */
  failed(error: unknown): void {
    if (this.#termination) {
      // When a call ends during preparation, the resources in use are closed and their errors mean nothing.
      this.#log.debug({ err: error }, 'preparation ended with the call');
      return;
    }
    if (error instanceof CallRefused) {
      this.#log.info({ sip_status: error.sipStatus, reason: error.message }, 'media refused');
    } else this.#log.error({ err: error }, 'call failed');
    this.end(terminationOf(error, this.answered, this.direction));
  }

  /** Closes everything of the call in the order above; what is sent to the peer follows. */
  #finish(): void {
    this.#setup.close();
    this.limits.stop();
    this.attempt('end the transfer', () => this.transfers.callEnded());
    this.attempt('end the supervision', () => this.#deps.supervisions.callEnded(this));
    this.agent.close(this.why);
    // Before the answer no media is expected, so none can be missing (contract 3.2).
    const report = this.answered && this.#media?.codec ? this.#media.report() : null;
    if (report instanceof Promise) this.#closing = this.#inTime(report);
    else this.#close(report);
  }

  /** Media in another thread reports its counts, but the peer does not wait for them any longer than this. */
  #inTime(report: Promise<MediaReport | null>): Promise<undefined> {
    return new Promise((resolve) => {
      const close = (media: MediaReport | null) => {
        if (!this.#closing) return;
        timer.cancel();
        this.#closing = null;
        this.attempt('close', () => this.#close(media));
        resolve(undefined);
      };
      const timer = this.#deps.clock.after(mostReportMs, () => {
        this.#log.warn({ ms: mostReportMs }, "the media's counts did not arrive in time");
        close(null);
      });
      void report.then(close);
    });
  }

  #close(media: MediaReport | null): void {
    this.ledger.close(media);
    this.attempt('close the media', () => this.#media?.close());
    const termination = this.#termination;
    if (termination) this.attempt('tell the transfer', () => this.#plan.transfer?.ended(termination));
    const { code, detail } = termination ?? {};
    this.#log.info({ termination: code, detail, answered: this.answered }, 'call ended');
  }

  // ---------------------------------------------------------------- guards

  /** Runs `work` and logs a failure, so that the other parts are still closed and the peer still gets its BYE. */
  attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.error({ err: error }, `could not ${what}`);
    }
  }

  /** Runs an event handler; a bug or a failed report in it ends only this call. */
  guarded(work: () => void): void {
    const state = this.#state;
    try {
      work();
    } catch (error) {
      this.#log.error({ err: error, state }, 'call logic failed');
      if (this.#state === 'ended' || this.#termination) return;
      this.end(internalError(error));
    }
  }
}
