/**
 * A test call (contract 3.2, docs/test-calls.md): an ordinary outbound call over one configuration, with observers on
 * its parts and a line check as its agent.
 *
 *     hunt ──> dialer ──> answer ──> line check ──> record
 *       │         │          │           │             │
 *       └─────────┴──────────┴── story ──┴─────────────┴──> reports `test_call`
 *
 * `max_seconds` limits how long one attempt may ring, and separately how long the answered call may last.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { CallRecord, MediaReport } from '#shared/edge-protocol/calls.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { OutboundPlan } from '../../call/call-plan.ts';
import type { OutboundChanges } from '../../call/calls.ts';
import type { Termination } from '../../call/ending.ts';
import type { Log } from '../../call/log.ts';
import { mediaSummary } from '../../call/media-verdict.ts';
import type { AgentHost, Agents } from '../../call/ports/agents.ts';
import type { Dialer } from '../../call/ports/dialing.ts';
import type { LocalLeg, LocalMedia } from '../../call/ports/media.ts';
import type { Reporter } from '../../call/ports/reporting.ts';
import type { Hunt, Routes } from '../../call/ports/routes.ts';
import { type AnswerFacts, diagnose } from './diagnosis.ts';
import { DialObserver } from './dial-observer.ts';
import { LineCheck } from './line-check.ts';
import { noPackets, type PacketCounts, provenMedia } from './proven-media.ts';
import { Story } from './story.ts';
import { toneHz } from './test-tone.ts';
import { mediaOf, verdictOf } from './verdict.ts';

export type TestCallOrder = Extract<EdgeCommand, { kind: 'test_call.run' }>;

interface PlacedCall {
  end(termination: Termination): void;
  /** null: it continues */
  readonly termination: Termination | null;
}

export interface TestCallParts {
  readonly clock: Clock;
  readonly calls: {
    place(plan: OutboundPlan, changes: OutboundChanges): PlacedCall;
  };
  readonly routes: Routes & { huntOver(number: string, trunkId: string): Hunt | null };
  readonly dialer: Dialer;
  readonly media: LocalMedia;
  readonly agents: Agents;
  readonly reporter: Reporter;
  readonly log: Log;
}

/** Places a test call and reports its progress. @throws Error when outbound calls are disabled or the id is in use */
export function runTestCall(order: TestCallOrder, parts: TestCallParts): void {
  new TestCall(order, parts).place();
}

/** As shown in the call's record. The maximum duration is a backstop: the test call has its own limit. */
const lineCheckSettings: AgentSettings = {
  kind: 'tone',
  frequency_hz: toneHz,
  first_sentence: null,
  wait_for_greeting: false,
  block_interruptions: false,
  ignore_button_press: false,
  voice: null,
  language: 'en-US',
  interruption_threshold: 500,
  timezone: 'UTC',
  max_duration: 5,
  request_data: {},
  fallback_number: null,
};

class TestCall {
  readonly #order: TestCallOrder;
  readonly #parts: TestCallParts;
  readonly #story: Story;
  readonly #dialing: DialObserver;
  #call: PlacedCall | null = null;
  #leg: LocalLeg | null = null;
  /** Packets counted by the leg before the answer. */
  #early: PacketCounts = noPackets;
  #check: LineCheck | null = null;
  #limit: Timer | null = null;

  constructor(order: TestCallOrder, parts: TestCallParts) {
    const { test_call_id } = order;
    this.#order = order;
    this.#parts = parts;
    this.#story = new Story(parts.clock, (state) => {
      try {
        parts.reporter.report({ type: 'test_call', test_call_id, ...state });
      } catch (error) {
        // The call continues: the next report is complete again.
        parts.log.error({ err: error, call_id: test_call_id }, 'a test call could not be reported');
      }
    });
    this.#dialing = new DialObserver(this.#story, order.to);
  }

  place(): void {
    const { test_call_id, org_id, number, to } = this.#order;
    this.#call = this.#parts.calls.place(
      { callId: test_call_id, orgId: org_id, from: number, to, agent: lineCheckSettings, variables: {} },
      this.#watched(),
    );
  }

  /** The parts of an ordinary call, with the test call's overrides. */
  #watched(): OutboundChanges {
    const { number, trunk_id, max_seconds } = this.#order;
    const { agents, dialer, media, routes } = this.#parts;
    return {
      ringTimeoutMs: max_seconds * 1000,
      routes: {
        hunt: () => {
          const hunt = routes.huntOver(number, trunk_id);
          return hunt && this.#dialing.over(hunt);
        },
        referTarget: (...query) => routes.referTarget(...query),
        followable: (...refer) => routes.followable(...refer),
      },
      dialer: this.#dialing.by(dialer, () => this.#answered()),
      media: {
        createLeg: async (options) => {
          this.#leg = await media.createLeg(options);
          return this.#leg;
        },
        bridge: (...legs) => media.bridge(...legs),
        openRoom: (...room) => media.openRoom(...room),
        supervise: (...legs) => media.supervise(...legs),
      },
      agents: {
        create: (_settings, _call, host) => this.#createCheck(host),
        consult: (...query) => agents.consult(...query),
        waiting: () => agents.waiting(),
        music: () => agents.music(),
      },
      reporter: { report: (body) => this.#report(body) },
    };
  }

  // ---------------------------------------------------------------- while it is up

  #answered(): void {
    if (this.#story.over) return;
    this.#countEarly();
    // What had come before the answer may be read after it: both wait together on a busy machine.
    setImmediate(() => this.#countEarly());
    this.#story.add('answered', '200 OK', { sip_code: 200 });
    const seconds = this.#order.max_seconds;
    this.#limit = this.#parts.clock.after(seconds * 1000, () =>
      this.#call?.end({ code: 'agent_hangup', detail: `The test call reached its limit of ${seconds} s.` }),
    );
  }

  #countEarly(): void {
    this.#early = this.#leg?.report() ?? noPackets;
  }

  #createCheck(host: AgentHost): LineCheck {
    const { dtmf } = this.#order;
    this.#check = new LineCheck({
      clock: this.#parts.clock,
      host,
      dtmf,
      media: (echoMs) => this.#proven(this.#leg?.report() ?? null, echoMs),
      confirmed: (media) => this.#confirmed(this.#leg?.codec ?? null, mediaOf(media)),
      keysSent: () => this.#story.add('dtmf_sent', `${dtmf} sent as RFC 4733 events`),
    });
    return this.#check;
  }

  #proven(report: MediaReport | null, echoMs: number): MediaReport | null {
    return report && provenMedia(report, this.#early, echoMs);
  }

  #confirmed(codec: string | null, media: ReturnType<typeof mediaOf>): void {
    this.#story.add('media_confirmed', `RTP goes both ways, ${codec} over SRTP`, { codec, media });
  }

  // ---------------------------------------------------------------- the end

  #report(body: ReportBody): void {
    const { test_call_id } = this.#order;
    const own = body.type === 'call' && body.call.id === test_call_id ? body.call : null;
    try {
      this.#parts.reporter.report(body);
    } finally {
      if (own?.ended_at) this.#conclude(own);
    }
  }

  #conclude(record: CallRecord): void {
    this.#limit?.cancel();
    const media = this.#proven(record.media, this.#check?.echoMs ?? 0);
    const { event, ...verdict } = verdictOf(record, media);
    const answer = record.answered_at === null ? null : this.#answerFacts(record, record.answered_at, media);
    const diagnosis = diagnose({
      termination: (record.termination ?? 'internal_error') as TerminationCode,
      detail: record.termination_detail,
      mediaFault: this.#call?.termination?.mediaFault ?? null,
      attempt: this.#dialing.attempt,
      unresolved: this.#dialing.unresolved,
      answer,
    });
    this.#story.end(event, diagnosis ?? this.#proof(record.codec, media), {
      ...verdict,
      diagnosis,
      duration_seconds: Math.round((answer?.durationMs ?? 0) / 1000),
      sip_code: record.sip_code,
      sip_call_id: record.sip_call_id,
      codec: record.codec,
      media: answer && mediaOf(media),
    });
  }

  #answerFacts({ ended_at }: CallRecord, answeredAt: string, media: MediaReport | null): AnswerFacts {
    const { audibleMs = 0, echoMs = 0, keysProblem = null } = this.#check ?? {};
    const durationMs = ended_at === null ? 0 : Date.parse(ended_at) - Date.parse(answeredAt);
    return { durationMs, media, audibleMs, echoMs, keysProblem };
  }

  /** The last line of a successful test call. */
  #proof(codec: string | null, media: MediaReport | null): string {
    const { echoMs = 0, keysHeard = '' } = this.#check ?? {};
    if (!media) return 'No media was exchanged.';
    const more = [
      ...(keysHeard === '' ? [] : [`the keys ${keysHeard} came in`]),
      ...(media.keys === 'none' ? ['DTMF is unavailable without telephone-event in the answer'] : []),
    ];
    return mediaSummary(media, { codec, echo: echoMs > 0, more });
  }
}
