/**
 * Test runs over a call (contract 6.4, docs/agent-testing-calls.md): the edge calls one of its own numbers, over TLS
 * and SRTP like any caller, and a run in control speaks for the caller.
 *
 *     control ==socket==> caller ──INVITE with a key──> engine ══TLS══> engine ──> admission ──> tested agent
 *
 * Of agents of others (contract 6.13), a bot behind a WebSocket answers in the place of a number's agent, and one with a
 * telephone is called over the trunks of a number:
 *
 *     control ==socket==> caller ──INVITE──> engine ══TLS══> trunk ──> agent of others
 *
 * The socket and the call end together.
 */

import type { AgentTestOrder } from '#shared/agent-test-protocol.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import type { AgentsDeps } from './agent/agents.ts';
import { WebrtcDetectors } from './agent/ears/webrtc-detector.ts';
import { tryVoice } from './agent/test-caller/caller-speech.ts';
import { RunSocket } from './agent/test-caller/run-socket.ts';
import { TestCaller, type TurnEnd } from './agent/test-caller/test-caller.ts';
import { TestedAgent } from './agent/test-caller/tested-agent.ts';
import { CallerWeather } from './agent/test-caller/weather/caller-weather.ts';
import { fixedHeader, notFollowed, offeringOnly, recordedTest, singleHop } from './agent-test-route.ts';
import type { AgentTestLimits } from './agent-test-times.ts';
import { type AgentTestCall, type AgentTestCalls, testKeyHeader } from './call/agent-test-calls.ts';
import type { CallPlan, OutboundPlan } from './call/call-plan.ts';
import type { InboundChanges, OutboundChanges } from './call/calls.ts';
import type { Termination } from './call/ending.ts';
import type { Log } from './call/log.ts';
import type { Agents } from './call/ports/agents.ts';
import type { Dialer, DialTarget } from './call/ports/dialing.ts';
import type { Media } from './call/ports/media.ts';
import type { PeerRefer } from './call/ports/refer.ts';
import type { Reporter } from './call/ports/reporting.ts';

const notItself =
  'the SIP engine of this edge is a drachtio-server, which sends no call to its own address: run the test without a call, or use the embedded engine (docs/engines.md)';

const notHeard =
  'the edge has no transcription server, so nothing would be known of what the agent says: set STT_BASE_URL (docs/speech.md)';

export type TestRunOrder = Extract<EdgeCommand, { kind: 'agent_test.call' }>;

/** Counters of agent tests. */
export interface AgentTestCounts {
  ended(how: 'concluded' | 'abandoned' | 'not_placed'): void;
  turnEnded(by: TurnEnd, cut: boolean): void;
}

export interface AgentTestParts {
  readonly limits: AgentTestLimits;
  readonly counts: AgentTestCounts;
  readonly clock: Clock;
  readonly log: Log;
  readonly controlUrl: string;
  readonly calls: {
    place(plan: OutboundPlan, changes: OutboundChanges): { end(termination: Termination): void };
  };
  readonly agentTestCalls: AgentTestCalls;
  readonly dialer: Dialer;
  /** Whether this edge can call itself. */
  readonly callsItself: () => boolean;
  /** This edge. */
  readonly self: () => DialTarget;
  /** Of the edge's calls to itself. */
  readonly media: Media;
  /** Of calls to agents of others. */
  readonly outward: { readonly media: Media; readonly dialer: Dialer };
  readonly agents: AgentsDeps;
  readonly reporter: Reporter;
  readonly tts: TextToSpeech;
  readonly stt: SpeechToText | null;
  readonly newId: () => string;
}

/** Resolves when the run's socket is open and the call is placed. Rejects when that fails. */
export async function runAgentTest(order: TestRunOrder, parts: AgentTestParts): Promise<void> {
  try {
    await new TestRun(order, parts).begin();
  } catch (error) {
    parts.counts.ended('not_placed');
    throw error;
  }
}

class TestRun {
  readonly #order: TestRunOrder;
  readonly #parts: AgentTestParts;
  readonly #log: Log;
  readonly #tested: TestedAgent;
  /** null: calm, with nothing between caller and agent. */
  readonly #weather: CallerWeather | null;
  #socket: RunSocket | null = null;
  #call: { end(termination: Termination): void } | null = null;
  #caller: TestCaller | null = null;
  #callerRecord: CallRecord | null = null;
  #agentRecord: CallRecord | null = null;
  #withdraw: () => void = () => {};
  #lastWait: Timer | null = null;
  #over = false;
  #abandoned = false;

  constructor(order: TestRunOrder, parts: AgentTestParts) {
    this.#order = order;
    this.#parts = parts;
    this.#log = parts.log.child({ test_run_id: order.run_id });
    this.#tested = new TestedAgent({
      agents: parts.agents,
      send: (event) => this.#socket?.send(event),
      begins: () => this.#caller?.agentBegins(),
    });
    const { seed = 0, weather } = order;
    this.#weather = weather ? new CallerWeather(weather, seed, parts.clock) : null;
  }

  async begin(): Promise<void> {
    const { calls, clock, controlUrl, limits, newId } = this.#parts;
    const { run_id, key, org_id, number, caller_number, record, to = number } = this.#order;
    const obstacle = this.#obstacle();
    if (obstacle !== null) throw new Error(obstacle);
    this.#socket = await RunSocket.open({
      controlUrl,
      runId: run_id,
      key,
      clock,
      limitMs: limits.socketMs,
      order: (order) => this.#obey(order),
      lost: (why) => this.#lost(why),
    });
    const plan: OutboundPlan = {
      callId: newId(),
      orgId: org_id,
      from: caller_number,
      to,
      agent: this.#callerSettings(),
      variables: {},
      testRunId: run_id,
      // Where the tested end is elsewhere.
      ...(record && this.#order.to !== undefined && { recordsTest: true }),
    };
    try {
      await tryVoice(this.#parts.tts, this.#order, this.#log);
      await this.#weather?.noiseArrives(limits.socketMs);
      if (this.#abandoned) throw new Error('the test run was lost before its call was placed');
      this.#call = calls.place(plan, this.#callerChanges());
    } catch (error) {
      this.#socket.close();
      throw error;
    }
  }

  /** Why the call makes no sense, a clause; null: it does. */
  #obstacle(): string | null {
    const { needs_words, to } = this.#order;
    if (to === undefined && !this.#parts.callsItself()) return notItself;
    return needs_words && !this.#parts.stt ? notHeard : null;
  }

  // ---------------------------------------------------------------- the calling end

  #callerSettings(): AgentSettings {
    const { language, max_minutes, voice } = this.#order;
    return {
      kind: 'test_caller',
      first_sentence: null,
      wait_for_greeting: true,
      block_interruptions: true,
      ignore_button_press: true,
      voice,
      language,
      interruption_threshold: 500,
      timezone: 'UTC',
      max_duration: max_minutes,
      request_data: {},
      fallback_number: null,
      recording: recordedTest,
    };
  }

  #callerChanges(): OutboundChanges {
    return {
      agents: this.#callerAgents(),
      ringTimeoutMs: this.#parts.limits.ringMs,
      reporter: this.#tap((record) => {
        this.#callerRecord = record;
      }),
      ...(this.#order.to === undefined ? this.#toItself() : this.#outward()),
    };
  }

  #toItself(): OutboundChanges {
    const { dialer, media, self } = this.#parts;
    const { ringMs } = this.#parts.limits;
    const codec = this.#order.weather?.codec;
    return {
      media: this.#weather?.media(media) ?? media,
      routes: { hunt: () => singleHop(self(), codec), referTarget: () => null, followable: notFollowed },
      dialer: {
        dial: (target, invite, events) => {
          const expected = this.#parts.agentTestCalls.expect(this.#expected(invite.sipCallId), ringMs);
          this.#withdraw = expected.withdraw;
          return dialer.dial(
            target,
            { ...invite, headers: [fixedHeader(testKeyHeader, expected.key)] },
            events,
          );
        },
      },
    };
  }

  /** The call that arrives at this edge. */
  #expected(sipCallId: string): AgentTestCall {
    const { agent, number, org_id } = this.#order;
    return {
      number,
      sipCallId,
      plan: (plan) => this.#testedPlan(plan),
      changes: this.#testedChanges(),
      ...(agent && { answers: { number, org_id, inbound: [], outbound: [], agent } }),
    };
  }

  #outward(): OutboundChanges {
    const { dialer, media } = this.#parts.outward;
    const { headers = {}, weather } = this.#order;
    const own = Object.entries(headers).map(([name, value]) => fixedHeader(name, value));
    const offering = weather?.codec ? offeringOnly(media, weather.codec) : media;
    return {
      media: this.#weather?.media(offering) ?? offering,
      dialer: {
        dial: (target, invite, events) =>
          dialer.dial(
            target,
            { ...invite, headers: [...invite.headers, ...own] },
            { ...events, referred: (refer) => this.#referred(refer) },
          ),
      },
    };
  }

  /** The tested agent transfers its caller: nobody is called, and the run ends. */
  #referred(refer: PeerRefer): void {
    this.#tested.transferredTo = refer.target;
    refer.accept();
    refer.notify(200, 'OK');
    this.#caller?.hangUp(`The test run ends at the transfer to ${refer.target}.`);
  }

  #callerAgents(): Agents {
    const { clock, counts, limits, log, stt, tts } = this.#parts;
    const { interrupt_after_ms: interruptAfterMs, language, voice } = this.#order;
    return {
      create: (_settings, _call, host) => {
        const caller = new TestCaller({
          host,
          clock,
          log,
          tts,
          stt,
          voices: this.#parts.agents.voices ?? new WebrtcDetectors(),
          voice,
          language,
          interruptAfterMs,
          limits: limits.caller,
          agentIsBusy: () => this.#tested.busy,
          agentSounds: () => this.#tested.sounds,
          answered: () => {
            const { callId: call_id, hears } = this.#tested;
            this.#socket?.send({ type: 'answered', call_id, hears });
          },
          turn: (heard, last) => this.#socket?.send({ type: 'turn', last, heard }),
          moved: () => this.#socket?.send({ type: 'moved' }),
          turnEnded: (by, cut) => counts.turnEnded(by, cut),
        });
        this.#caller = caller;
        return this.#weather?.caller(caller) ?? caller;
      },
      consult: () => {
        throw new Error('a simulated caller cannot transfer');
      },
      waiting: () => ({ sampleRate: 8000, read: () => false }),
      music: () => ({ sampleRate: 8000, read: () => false }),
    };
  }

  // ---------------------------------------------------------------- the tested end

  #testedPlan(plan: CallPlan): CallPlan {
    const { record, run_id, start_node_id, variables } = this.#order;
    const agent =
      plan.agent?.kind === 'pathway' && start_node_id !== null
        ? { ...plan.agent, start_node_id }
        : plan.agent;
    const recorded = record && agent ? { ...agent, recording: recordedTest } : agent;
    const test = { testRunId: run_id, ...(record && { recordsTest: true }) };
    return { ...plan, agent: recorded, variables: { ...plan.variables, ...variables }, ...test };
  }

  #testedChanges(): InboundChanges {
    const agents = this.#tested.agents();
    return {
      agents: this.#weather?.tested(agents) ?? agents,
      media: this.#parts.media,
      reporter: this.#tap((record) => {
        this.#agentRecord = record;
      }),
    };
  }

  // ---------------------------------------------------------------- orders from the run

  #obey(order: AgentTestOrder): void {
    switch (order.type) {
      case 'hangup':
        this.#caller?.hangUp(order.reason);
        break;
      case 'noise':
        this.#weather?.give(order.audio);
        break;
      case 'webhook_result':
      case 'tool_result':
        this.#tested.answer(order);
        break;
      default:
        this.#caller?.move(order);
    }
  }

  /** The run is lost, so nobody controls the caller. */
  #lost(why: string): void {
    this.#log.warn({ why }, 'the socket of a test run is lost, its call ends');
    this.#abandoned = true;
    this.#call?.end({ code: 'api_stop', detail: `The test run was lost: ${why}.` });
  }

  // ---------------------------------------------------------------- the end

  #tap(note: (record: CallRecord) => void): Reporter {
    return {
      report: (body: ReportBody) => {
        try {
          this.#parts.reporter.report(body);
        } finally {
          if (body.type === 'call') {
            note(body.call);
            if (body.call.ended_at !== null) this.#ended();
          }
        }
      },
    };
  }

  #ended(): void {
    this.#withdraw();
    const open = (record: CallRecord | null) => record !== null && record.ended_at === null;
    if (!open(this.#callerRecord) && !open(this.#agentRecord)) this.#conclude();
    else this.#lastWait ??= this.#parts.clock.after(this.#parts.limits.otherEndMs, () => this.#conclude());
  }

  #conclude(): void {
    if (this.#over) return;
    this.#over = true;
    this.#parts.counts.ended(this.#abandoned ? 'abandoned' : 'concluded');
    this.#lastWait?.cancel();
    this.#weather?.close();
    // One end is over; otherwise the other end might wait forever.
    this.#call?.end({ code: 'agent_hangup', detail: 'The tested end has ended.' });
    this.#sendEnd().catch((error: unknown) => {
      this.#log.error({ err: error }, 'a test run could not be concluded');
    });
  }

  async #sendEnd(): Promise<void> {
    const caller = this.#caller;
    caller?.close();
    await caller?.done();
    const record = this.#callerRecord;
    if (record) {
      this.#socket?.send({
        type: 'ended',
        caller: record,
        agent: this.#agentRecord,
        ...this.#tested.account(),
        keys_sent: caller?.keysSent ?? [],
        ...(this.#weather && { weather: this.#weather.report() }),
      });
    }
    this.#socket?.close();
  }
}
