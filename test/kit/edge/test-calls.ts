/** Test calls over fakes of dialer, hunt and media. */
import { beforeEach, expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord, MediaReport } from '#shared/edge-protocol/calls.ts';
import type { ReportBody, TestCallState } from '#shared/edge-protocol/reports.ts';
import { Calls } from '../../../edge/call/calls.ts';
import type { NextHop } from '../../../edge/call/ports/routes.ts';
import { runTestCall, type TestCallOrder } from '../../../edge/trunks/test-call/test-call.ts';
import { FakeAgents } from '../fakes/fake-agents.ts';
import { FakeDialer } from '../fakes/fake-dialer.ts';
import { FakeHunt, hopAt } from '../fakes/fake-hunt.ts';
import { FakeMedia, fakeAnswer } from '../fakes/fake-media.ts';
import { QuietLog } from '../fakes/quiet-log.ts';

export const order: TestCallOrder = {
  kind: 'test_call.run',
  test_call_id: 'tc_1',
  org_id: 'org-1',
  number: '+14155550100',
  to: '+14155550123',
  trunk_id: 'trunk-1',
  max_seconds: 10,
  dtmf: null,
};

export const nothing: MediaReport = {
  packets_sent: 0,
  packets_received: 0,
  packets_lost: 0,
  jitter_ms: null,
  round_trip_ms: null,
  mos: null,
  verdict: 'none',
  cause: 'No packet arrived from the peer.',
};

export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The far end of the media: its counters, and the audio it returns in each frame. */
interface FarEnd {
  counts?: Partial<MediaReport>;
  /** Fills `heard` with the inbound frame while `said` is sent. */
  speak?: (said: Int16Array, heard: Int16Array) => void;
}

const echo = (said: Int16Array, heard: Int16Array) => heard.set(said);

export const twoWay: Partial<MediaReport> = {
  verdict: 'two_way',
  packets_sent: 50,
  packets_received: 50,
  cause: null,
};

/** Fresh fakes for each test. */
export function testCallScene() {
  let clock: FakeClock;
  let media: FakeMedia;
  let dialer: FakeDialer;
  let hops: readonly NextHop[] | null;
  let asked: unknown[];
  let states: TestCallState[];
  let records: CallRecord[];
  let calls: Calls;

  beforeEach(() => {
    clock = new FakeClock(Date.UTC(2030, 0, 1));
    media = new FakeMedia();
    dialer = new FakeDialer();
    hops = [hopAt(5061)];
    asked = [];
    states = [];
    records = [];
    calls = new Calls({
      clock,
      media,
      agents: new FakeAgents(),
      log: new QuietLog(),
      newId: () => 'sip-1',
      maxCalls: 1,
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
      reporter: { report: take },
      outbound: { routes, dialer, ringTimeoutMs: 30_000 },
    });
  });

  function take(body: ReportBody): void {
    if (body.type === 'call') records.push(body.call);
    if (body.type !== 'test_call') return;
    const { type, test_call_id, ...state } = body;
    expect(test_call_id).toBe('tc_1');
    states.push(state);
  }

  const routes = {
    hunt: () => {
      throw new Error('a test call keeps to one configuration');
    },
    huntOver: (...query: unknown[]) => {
      asked.push(query);
      return hops && new FakeHunt(hops);
    },
    referTarget: () => null,
    followable: () => ({ allowed: false, reason: 'a test call' }) as const,
  };

  const last = (): TestCallState => {
    const state = states.at(-1);
    if (!state) throw new Error('nothing was reported');
    return state;
  };

  const events = () => last().timeline.map(({ event }) => event);

  const expectNothingLeft = () => {
    expect(calls.size).toBe(0);
    expect(clock.pending).toBe(0);
    expect(media.legs.filter(({ closed }) => closed === 0)).toEqual([]);
  };

  async function dialling(changes: Partial<TestCallOrder> = {}) {
    runTestCall(
      { ...order, ...changes },
      {
        clock,
        calls,
        routes,
        dialer,
        media,
        agents: new FakeAgents(),
        reporter: { report: take },
        log: new QuietLog(),
      },
    );
    await settle();
    for (const leg of media.legs) leg.report = () => nothing;
    return dialer.last;
  }

  async function answered(changes: Partial<TestCallOrder> = {}, sdp: string | null = fakeAnswer) {
    const leg = await dialling(changes);
    leg.peer.answered(sdp);
    await settle();
    return leg;
  }

  /** Runs media frame by frame. */
  async function talk(ms: number, { counts = twoWay, speak = echo }: FarEnd = {}): Promise<void> {
    const leg = media.last;
    leg.report = () => ({ ...nothing, ...counts });
    const said = new Int16Array(160);
    const heard = new Int16Array(160);
    for (let passed = 0; passed < ms && leg.endpoint; passed += 20) {
      said.fill(0);
      leg.endpoint.read(said);
      heard.fill(0);
      speak(said, heard);
      leg.endpoint.write?.(heard);
      clock.advance(20);
      await Promise.resolve();
    }
    await settle();
  }

  return {
    get clock() {
      return clock;
    },
    get media() {
      return media;
    },
    get dialer() {
      return dialer;
    },
    get hops() {
      return hops;
    },
    set hops(value) {
      hops = value;
    },
    get asked() {
      return asked;
    },
    get states() {
      return states;
    },
    set states(value) {
      states = value;
    },
    get records() {
      return records;
    },
    get calls() {
      return calls;
    },
    take,
    routes,
    last,
    events,
    expectNothingLeft,
    dialling,
    answered,
    talk,
  };
}
