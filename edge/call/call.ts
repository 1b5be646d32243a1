/** One call: runs what the state machine puts out against signaling, media and agent. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { CallVariables, TranscriptEntry } from '#shared/edge-protocol.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { accepts, type CallInput, type CallOutput, type CallState, step } from './call-state.ts';
import { inputFor, refusalStatus, type Termination } from './ending.ts';
import type { Log } from './log.ts';
import {
  type AgentHost,
  type AgentLeg,
  type Agents,
  type CallLeg,
  CallRefused,
  type LegEvents,
  type Media,
  type MediaLeg,
  type Reporter,
} from './ports.ts';
import { type CallPlan, callFacts, callRecord } from './record.ts';
import { SilenceWatch } from './silence-watch.ts';

interface CallSettings {
  /** 180 goes out when the answer takes longer than this, in ms. */
  readonly ringAfterMs: number;
  /** How long an agent may take to get ready before the call is answered 480, in ms. */
  readonly prepareTimeoutMs: number;
  /** How long the peer may send no RTP while it does not hold, in ms; 0: for ever. */
  readonly mediaTimeoutMs: number;
}

export interface CallDeps {
  readonly clock: Clock;
  readonly media: Media;
  readonly agents: Agents;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly settings: CallSettings;
}

/** Seconds of the Retry-After header in a 503. */
export const retryAfterS = 10;

export class Call {
  readonly id: string;
  readonly plan: CallPlan;
  readonly #leg: CallLeg;
  readonly #deps: CallDeps;
  readonly #log: Log;
  readonly #codecs: readonly CodecName[];
  readonly #ended: (call: Call) => void;
  readonly #startedAt: number;
  readonly #timers = new Set<Timer>();
  readonly #silence: SilenceWatch;
  #state: CallState = 'offered';
  #ringing = false;
  #answeredAt: number | null = null;
  #termination: Termination | null = null;
  #endedAt: number | null = null;
  #media: MediaLeg | null = null;
  #agent: AgentLeg | null = null;
  #sdp = '';
  #ackSdp: string | null = null;
  #extracted: CallVariables = {};

  /**
   * Takes over the leg's events; nothing else happens until `admit` or `end`.
   * @param ended called once, when nothing of the call is left
   */
  constructor(
    id: string,
    leg: CallLeg,
    plan: CallPlan,
    codecs: readonly CodecName[],
    deps: CallDeps,
    ended: (call: Call) => void,
  ) {
    this.id = id;
    this.plan = plan;
    this.#leg = leg;
    this.#codecs = codecs;
    this.#deps = deps;
    this.#ended = ended;
    this.#startedAt = deps.clock.now();
    this.#log = deps.log.child({ call_id: id, trunk_id: plan.trunkId, sip_call_id: leg.facts.sipCallId });
    const { mediaTimeoutMs } = deps.settings;
    this.#silence = new SilenceWatch(
      deps.clock,
      mediaTimeoutMs,
      () => this.#media?.silentForMs() ?? 0,
      () => this.end({ code: 'media_timeout', detail: `No RTP arrived for ${mediaTimeoutMs / 1000} s.` }),
    );
    leg.listen(this.#legEvents());
  }

  get state(): CallState {
    return this.#state;
  }

  /** Why the call ended, null while it goes on. */
  get termination(): TerminationCode | null {
    return this.#termination?.code ?? null;
  }

  get answered(): boolean {
    return this.#answeredAt !== null;
  }

  /** Begins to get media and agent ready; the call is then answered or refused by itself. */
  admit(): void {
    this.#guarded(() => {
      this.#log.info({ from: this.#leg.facts.from, to: this.#leg.facts.to }, 'call offered');
      this.#report();
      this.#input('admit');
    });
  }

  /** Ends the call in whatever state it is. The first reason given stands. */
  end(termination: Termination): void {
    this.#guarded(() => {
      this.#termination ??= termination;
      this.#input(inputFor(termination.code));
    });
  }

  #input(input: CallInput): void {
    const { to, outputs } = step(this.#state, input);
    const before = this.#state;
    this.#state = to;
    try {
      for (const output of outputs) this.#run(output);
    } finally {
      if (to === 'ended' && before !== 'ended') this.#ended(this);
    }
  }

  #run(output: CallOutput): void {
    switch (output) {
      case 'prepare':
        this.#prepare().catch((error: unknown) => this.#failed(error));
        break;
      case 'ring':
        this.#ringing = true;
        this.#report();
        this.#leg.ring();
        break;
      case 'answer':
        this.#leg.answer(this.#sdp);
        break;
      case 'begin':
        this.#begin();
        break;
      case 'start':
        this.#start().catch((error: unknown) => this.#failed(error));
        break;
      case 'finish':
        this.#finish();
        break;
      case 'reject':
        this.#reject();
        break;
      case 'bye':
        this.#leg.bye(this.#why());
        break;
    }
  }

  // ---------------------------------------------------------------- before the answer

  async #prepare(): Promise<void> {
    const { media, agents, settings } = this.#deps;
    if (this.#leg.canRing) this.#after(settings.ringAfterMs, () => this.#ringIfWaiting());
    const leg = await media.createLeg({ callId: this.id, codecs: this.#codecs });
    if (this.#termination) return leg.close();
    this.#media = leg;
    const { offer } = this.#leg.facts;
    this.#sdp = offer === null ? await leg.offer() : await leg.answer(offer);
    if (this.#termination) return;
    const agentSettings = this.plan.agent;
    if (!agentSettings) return this.end({ code: 'no_agent', detail: null });
    try {
      this.#agent = agents.create(
        agentSettings,
        callFacts(this.id, this.#leg.facts, this.plan),
        this.#agentHost(),
      );
      await this.#within(settings.prepareTimeoutMs, this.#agent.prepare());
    } catch (error) {
      this.#log.warn({ err: error }, 'agent cannot take the call');
      return this.end({ code: 'agent_unavailable', detail: messageOf(error) });
    }
    if (this.#termination) return;
    this.#guarded(() => this.#input('ready'));
  }

  #ringIfWaiting(): void {
    if (accepts(this.#state, 'ring')) this.#guarded(() => this.#input('ring'));
  }

  /** Rejects when `work` takes longer than `ms`. */
  #within(ms: number, work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#after(ms, () => reject(new Error(`The agent was not ready within ${ms} ms`)));
      work.then(resolve, reject).finally(() => this.#cancel(timer));
    });
  }

  #failed(error: unknown): void {
    if (error instanceof CallRefused) {
      this.#log.info({ sip_status: error.sipStatus, reason: error.message }, 'media refused');
      const code = this.answered ? 'bad_answer' : error.sipStatus === 503 ? 'no_media_port' : 'media_refused';
      const warning = error.warning === undefined ? {} : { warning: error.warning };
      this.end({ code, detail: error.message, sipStatus: error.sipStatus, ...warning });
      return;
    }
    this.#log.error({ err: error }, 'call failed');
    this.end({ code: 'internal_error', detail: messageOf(error) });
  }

  // ---------------------------------------------------------------- while it is up

  #begin(): void {
    this.#answeredAt = this.#deps.clock.now();
    const minutes = this.plan.agent?.max_duration ?? 0;
    if (minutes > 0) {
      this.#after(minutes * 60_000, () =>
        this.end({ code: 'max_duration', detail: `It lasted ${minutes} minutes.` }),
      );
    }
    this.#log.info({ codec: this.#media?.codec ?? null }, 'call answered');
    this.#report();
  }

  async #start(): Promise<void> {
    const { offer } = this.#leg.facts;
    if (offer === null) {
      if (this.#ackSdp === null) {
        return this.end({ code: 'bad_answer', detail: 'The ACK carried no answer to our offer.' });
      }
      await this.#media?.accept(this.#ackSdp);
      if (this.#termination) return;
    }
    this.#media?.attach(this.#agent);
    this.#agent?.start();
    this.#silence.start();
    this.#followHold();
  }

  #followHold(): void {
    const held = this.#media?.held === true;
    if (held && this.#state === 'up') {
      this.#silence.stop();
      this.#input('hold');
    } else if (!held && this.#state === 'held') {
      this.#silence.start();
      this.#input('resume');
    }
  }

  #legEvents(): LegEvents {
    return {
      answered: () => this.#guarded(() => this.#input('sent')),
      acknowledged: (sdp) =>
        this.#guarded(() => {
          this.#ackSdp = sdp;
          this.#input('acknowledged');
        }),
      canceled: () => this.end({ code: 'caller_canceled', detail: null }),
      bye: () => this.end({ code: 'caller_hangup', detail: null }),
      lost: (code, detail) => this.end({ code, detail }),
      reanswer: async (offer) => {
        const answer = await this.#liveMedia().answer(offer);
        this.#followHold();
        return answer;
      },
      reoffer: () => this.#liveMedia().offer(),
      reaccept: async (answer) => {
        await this.#liveMedia().accept(answer);
        this.#followHold();
      },
    };
  }

  #liveMedia(): MediaLeg {
    if (!this.#media || this.#termination) throw new CallRefused(488, 'The call has no media session');
    return this.#media;
  }

  #agentHost(): AgentHost {
    return {
      hangup: (reason) => this.end({ code: 'agent_hangup', detail: reason }),
      sendDtmf: async (digits) => {
        if (this.answered && !this.#termination) await this.#media?.sendDtmf(digits);
      },
      transcript: (entry: TranscriptEntry) => {
        if (this.#endedAt !== null) return;
        const report = { type: 'transcript' as const, call_id: this.id, entries: [entry] };
        this.#attempt('report a transcript', () => this.#deps.reporter.report(report));
      },
      variables: (values) => {
        if (this.#endedAt === null) this.#extracted = values;
      },
      fail: (error) => {
        this.#log.error({ err: error }, 'agent failed');
        const code = this.answered ? 'agent_failed' : 'agent_unavailable';
        this.end({ code, detail: messageOf(error) });
      },
    };
  }

  // ---------------------------------------------------------------- the end

  /** Closes agent and media, then makes the final record safe. */
  #finish(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#silence.stop();
    this.#attempt('close the agent', () => this.#agent?.close(this.#why()));
    this.#endedAt = this.#deps.clock.now();
    this.#report();
    this.#attempt('close the media', () => this.#media?.close());
    this.#log.info(
      { termination: this.#termination?.code, detail: this.#termination?.detail, answered: this.answered },
      'call ended',
    );
  }

  #reject(): void {
    const termination = this.#termination ?? { code: 'internal_error' as const, detail: null };
    const status = refusalStatus(termination);
    this.#leg.reject({
      status,
      ...(termination.warning === undefined ? {} : { warning: termination.warning }),
      ...(status === 503 ? { retryAfterS } : {}),
    });
  }

  #why(): string {
    const code = this.#termination?.code ?? 'internal_error';
    return this.#termination?.detail ?? terminations[code].summary;
  }

  #report(): void {
    const termination = this.#termination;
    const call = callRecord(this.id, this.#leg.facts, this.plan, {
      startedAt: this.#startedAt,
      ringing: this.#ringing,
      answeredAt: this.#answeredAt,
      end: this.#endedAt === null || !termination ? null : { at: this.#endedAt, termination },
      codec: this.#media?.codec ?? null,
      // Contract 3.4: null when no media was set up.
      media: this.#endedAt !== null && this.#media?.codec ? this.#media.report() : null,
      extracted: this.#extracted,
    });
    this.#attempt('report', () => this.#deps.reporter.report({ type: 'call', call }));
  }

  // ---------------------------------------------------------------- plumbing

  #after(ms: number, fire: () => void): Timer {
    const timer = this.#deps.clock.after(ms, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer: Timer): void {
    timer.cancel();
    this.#timers.delete(timer);
  }

  /** A failing part must not keep the others from being closed, nor the peer from being told. */
  #attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.error({ err: error }, `could not ${what}`);
    }
  }

  /** Runs an event; a bug or a failing report in it ends this call and no other. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.error({ err: error, state: this.#state }, 'call logic failed');
      if (this.#state === 'ended' || this.#termination) return;
      this.end({ code: 'internal_error', detail: messageOf(error) });
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
