/** What every call has, whoever began it: media and agent, timers, the record. Decisions are its owner's. */
import type { Timer } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { CallVariables, TranscriptEntry } from '#shared/edge-protocol.ts';
import { terminations } from '#shared/termination.ts';
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { CallDeps } from './call.ts';
import type { Termination } from './ending.ts';
import type { Log } from './log.ts';
import {
  type AgentHost,
  type AgentLeg,
  CallRefused,
  type LegEvents,
  type LegFacts,
  type MediaLeg,
} from './ports.ts';
import { type CallPlan, callFacts, callRecord } from './record.ts';
import { SilenceWatch } from './silence-watch.ts';

/** The call itself, as its body sees it. */
export interface BodyOwner {
  readonly facts: LegFacts;
  readonly plan: CallPlan;
  readonly state: string;
  end(termination: Termination): void;
  accepts(input: 'hold' | 'resume'): boolean;
  input(input: 'hold' | 'resume'): void;
}

export class CallBody {
  readonly id: string;
  log: Log;
  /** Why the call ends; the first reason given stands. */
  termination: Termination | null = null;
  media: MediaLeg | null = null;
  agent: AgentLeg | null = null;
  ringing = false;
  queued = false;
  /** Places tried in vain; null for calls that came in. */
  attempts: readonly FailoverAttempt[] | null = null;
  readonly #owner: BodyOwner;
  readonly #deps: CallDeps;
  readonly #startedAt: number;
  readonly #timers = new Set<Timer>();
  readonly #silence: SilenceWatch;
  #answeredAt: number | null = null;
  #endedAt: number | null = null;
  #extracted: CallVariables = {};

  constructor(id: string, owner: BodyOwner, log: Log, deps: CallDeps) {
    this.id = id;
    this.log = log;
    this.#owner = owner;
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    const { mediaTimeoutMs } = deps.settings;
    this.#silence = new SilenceWatch(
      deps.clock,
      mediaTimeoutMs,
      () => this.media?.silentForMs() ?? 0,
      () => owner.end({ code: 'media_timeout', detail: `No RTP arrived for ${mediaTimeoutMs / 1000} s.` }),
    );
  }

  get answered(): boolean {
    return this.#answeredAt !== null;
  }

  // ---------------------------------------------------------------- before the answer

  /** A media leg for this call. @throws CallRefused 503 when no RTP port pair is free */
  createMedia(codecs: readonly CodecName[]): Promise<MediaLeg> {
    return this.#deps.media.createLeg({
      callId: this.id,
      codecs,
      failed: (error) => this.#owner.end({ code: 'internal_error', detail: error.message }),
    });
  }

  /** Creates the plan's agent and lets it get ready. Ends the call when it has none or it cannot. */
  async prepareAgent(): Promise<void> {
    const { agents, settings } = this.#deps;
    const { plan, facts } = this.#owner;
    if (!plan.agent) return this.#owner.end({ code: 'no_agent', detail: null });
    try {
      this.agent = agents.create(plan.agent, callFacts(this.id, facts, plan), this.#agentHost());
      await this.#within(settings.prepareTimeoutMs, this.agent.prepare());
    } catch (error) {
      if (this.termination) return;
      this.log.warn({ err: error }, 'agent cannot take the call');
      this.#owner.end({ code: 'agent_unavailable', detail: messageOf(error) });
    }
  }

  /** Rejects when `work` takes longer than `ms`. */
  #within(ms: number, work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.after(ms, () => reject(new Error(`The agent was not ready within ${ms} ms`)));
      work.then(resolve, reject).finally(() => this.cancel(timer));
    });
  }

  /** Ends the call for what went wrong in its preparation or its start. */
  failed(error: unknown): void {
    if (this.termination) {
      // A call that ends in its preparation takes away what the preparation works with.
      this.log.debug({ err: error }, 'preparation ended with the call');
      return;
    }
    if (error instanceof CallRefused) {
      this.log.info({ sip_status: error.sipStatus, reason: error.message }, 'media refused');
      const code = this.answered ? 'bad_answer' : error.sipStatus === 503 ? 'no_media_port' : 'media_refused';
      const warning = error.warning === undefined ? {} : { warning: error.warning };
      // A call of ours shows what it received, and this was received from nobody.
      const status = this.#owner.facts.direction === 'inbound' ? { sipStatus: error.sipStatus } : {};
      this.#owner.end({ code, detail: error.message, ...status, ...warning });
      return;
    }
    this.log.error({ err: error }, 'call failed');
    this.#owner.end({ code: 'internal_error', detail: messageOf(error) });
  }

  // ---------------------------------------------------------------- while it is up

  /** The call is answered: its time runs. */
  begin(): void {
    this.#answeredAt = this.#deps.clock.now();
    const minutes = this.#owner.plan.agent?.max_duration ?? 0;
    if (minutes > 0) {
      this.after(minutes * 60_000, () =>
        this.#owner.end({ code: 'max_duration', detail: `It lasted ${minutes} minutes.` }),
      );
    }
    this.log.info({ codec: this.media?.codec ?? null }, 'call answered');
    this.report();
  }

  /** Joins agent and media. */
  start(): void {
    this.media?.attach(this.agent);
    this.agent?.start();
    this.#silence.start();
    this.followHold();
  }

  followHold(): void {
    const input = this.media?.held === true ? 'hold' : 'resume';
    if (!this.#owner.accepts(input)) return;
    if (input === 'hold') this.#silence.stop();
    else this.#silence.start();
    this.#owner.input(input);
  }

  /** What a leg asks of the media while the call is up. */
  mediaEvents(): Pick<LegEvents, 'reanswer' | 'reoffer' | 'reaccept'> {
    return {
      reanswer: async (offer) => {
        const answer = await this.#liveMedia().answer(offer);
        this.followHold();
        return answer;
      },
      reoffer: async () => this.#liveMedia().offer(),
      reaccept: async (answer) => {
        await this.#liveMedia().accept(answer);
        this.followHold();
      },
    };
  }

  #liveMedia(): MediaLeg {
    if (!this.media || this.termination) throw new CallRefused(488, 'The call has no media session');
    return this.media;
  }

  #agentHost(): AgentHost {
    return {
      hangup: (reason) => this.#owner.end({ code: 'agent_hangup', detail: reason }),
      sendDtmf: async (digits) => {
        if (this.answered && !this.termination) await this.media?.sendDtmf(digits);
      },
      transcript: (entry: TranscriptEntry) => {
        if (this.#endedAt !== null) return;
        const report = { type: 'transcript' as const, call_id: this.id, entries: [entry] };
        this.attempt('report a transcript', () => this.#deps.reporter.report(report));
      },
      variables: (values) => {
        if (this.#endedAt === null) this.#extracted = values;
      },
      fail: (error) => {
        this.log.error({ err: error }, 'agent failed');
        const code = this.answered ? 'agent_failed' : 'agent_unavailable';
        this.#owner.end({ code, detail: messageOf(error) });
      },
    };
  }

  // ---------------------------------------------------------------- the end

  /** Closes agent and media, and makes the final record safe. */
  finish(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#silence.stop();
    this.attempt('close the agent', () => this.agent?.close(this.why));
    this.#endedAt = this.#deps.clock.now();
    this.report();
    this.attempt('close the media', () => this.media?.close());
    this.log.info(
      { termination: this.termination?.code, detail: this.termination?.detail, answered: this.answered },
      'call ended',
    );
  }

  /** Why the call ended, as a sentence. */
  get why(): string {
    const code = this.termination?.code ?? 'internal_error';
    return this.termination?.detail ?? terminations[code].summary;
  }

  report(): void {
    const { termination } = this;
    const { facts, plan } = this.#owner;
    const call = callRecord(this.id, facts, plan, {
      startedAt: this.#startedAt,
      queued: this.queued,
      ringing: this.ringing,
      answeredAt: this.#answeredAt,
      end: this.#endedAt === null || !termination ? null : { at: this.#endedAt, termination },
      codec: this.media?.codec ?? null,
      // Contract 3.4: null when no media was set up.
      media: this.#endedAt !== null && this.media?.codec ? this.media.report() : null,
      extracted: this.#extracted,
      attempts: this.attempts,
    });
    this.attempt('report', () => this.#deps.reporter.report({ type: 'call', call }));
  }

  // ---------------------------------------------------------------- plumbing

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

  /** A failing part must not keep the others from being closed, nor the peer from being told. */
  attempt(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.log.error({ err: error }, `could not ${what}`);
    }
  }

  /** Runs an event; a bug or a failing report in it ends this call and no other. */
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
