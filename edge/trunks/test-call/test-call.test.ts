import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { CallRecord, MediaReport } from '#shared/edge-protocol/calls.ts';
import type { ReportBody, TestCallState } from '#shared/edge-protocol/reports.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../../test/kit/fakes/fake-dialer.ts';
import { FakeHunt, placeAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { FakeMedia, fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { Calls } from '../../call/calls.ts';
import type { DialRefusal } from '../../call/ports/dialing.ts';
import type { Place } from '../../call/ports/routes.ts';
import { runTestCall, type TestCallOrder } from './test-call.ts';

const order: TestCallOrder = {
  kind: 'test_call.run',
  test_call_id: 'tc_1',
  org_id: 'org-1',
  number: '+14155550100',
  to: '+14155550123',
  trunk_id: 'trunk-1',
  max_seconds: 10,
  dtmf: null,
};
const nothing: MediaReport = {
  packets_sent: 0,
  packets_received: 0,
  packets_lost: 0,
  jitter_ms: null,
  round_trip_ms: null,
  mos: null,
  verdict: 'none',
  cause: 'No packet arrived from the peer.',
};
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const refusal = (status: number, reason: string, authenticated = false): DialRefusal => ({
  status,
  reason,
  warning: null,
  retryAfterS: null,
  authenticated,
});

let clock: FakeClock;
let media: FakeMedia;
let dialer: FakeDialer;
let places: readonly Place[] | null;
let asked: unknown[];
let states: TestCallState[];
let records: CallRecord[];
let calls: Calls;

beforeEach(() => {
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  media = new FakeMedia();
  dialer = new FakeDialer();
  places = [placeAt(5061)];
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
    return places && new FakeHunt(places);
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

/** The far end of the media: its counters, and the audio it returns in each frame. */
interface FarEnd {
  counts?: Partial<MediaReport>;
  /** Fills `heard` with the inbound frame while `said` is sent. */
  speak?: (said: Int16Array, heard: Int16Array) => void;
}
const echo = (said: Int16Array, heard: Int16Array) => heard.set(said);
const twoWay: Partial<MediaReport> = {
  verdict: 'two_way',
  packets_sent: 50,
  packets_received: 50,
  cause: null,
};

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

describe('a test call', () => {
  it('uses only its configuration, and ends when audio is proven both ways', async () => {
    const leg = await dialling();
    expect(asked).toEqual([['+14155550100', 'trunk-1']]);
    leg.peer.progress(100, null);
    leg.peer.progress(180, null);
    leg.peer.progress(180, null);
    leg.peer.progress(183, fakeAnswer);
    leg.peer.answered(fakeAnswer);
    await settle();
    await talk(10_000);
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'connected',
      error: null,
      diagnosis: null,
      sip_code: 200,
      sip_call_id: 'sip-1',
      codec: 'PCMU',
      duration_seconds: 2,
      media: { packets_sent: 50, packets_received: 50, verdict: 'two_way' },
    });
    expect(last().timeline.map(({ event, detail }) => [event, detail])).toEqual([
      ['initiated', 'INVITE to 127.0.0.1:5061'],
      ['trying', '100 Trying'],
      ['ringing', '180 Ringing'],
      ['early_media', '183 Session Progress, with early media'],
      ['answered', '200 OK'],
      ['media_confirmed', 'RTP goes both ways, PCMU over SRTP'],
      ['completed', 'Two-way audio: 50 packets sent, 50 received, PCMU, our tone came back.'],
    ]);
    expect(leg.sent).toEqual(['BYE (The test call is complete.)']);
    expectNothingLeft();
  });

  it('is reported at every event, and its record is in the call log under its id', async () => {
    await answered();
    await talk(10_000);
    expect(states.map(({ status, result }) => `${status} ${result}`)).toEqual([
      'initiated pending',
      'in-progress pending',
      'in-progress pending',
      'completed connected',
    ]);
    expect(records.at(-1)).toMatchObject({
      id: 'tc_1',
      org_id: 'org-1',
      number: '+14155550100',
      trunk_id: 'trunk-1',
      agent_kind: 'tone',
      status: 'completed',
    });
  });

  it('sends its keys after a second, without tone meanwhile, and reports which came back', async () => {
    await answered({ dtmf: '1w2' });
    const pressed = Promise.withResolvers<void>();
    const leg = media.last;
    leg.sendDtmf = (digits) => {
      leg.digits = digits;
      return pressed.promise;
    };
    await talk(980);
    expect(leg.digits).toBe('');
    await talk(120);
    expect(leg.digits).toBe('1w2');
    expect(leg.endpoint?.read(new Int16Array(160))).toBe(false);
    await talk(3000);
    expect(last().result).toBe('pending');
    for (const digit of ['1', '2']) leg.endpoint?.dtmf?.({ digit, durationMs: 100 });
    pressed.resolve();
    await settle();
    await talk(3000);
    expect(events()).toEqual(['initiated', 'answered', 'media_confirmed', 'dtmf_sent', 'completed']);
    expect(last().timeline[3]?.detail).toBe('1w2 sent as RFC 4733 events');
    expect(last().timeline[4]?.detail).toMatch(/the keys 12 came in\.$/);
    expectNothingLeft();
  });

  it('is connected without keys when the far end does not support them, and says so', async () => {
    await answered({ dtmf: '1' });
    media.last.sendDtmf = () => Promise.reject(new Error('the peer does not support telephone-event'));
    await talk(5000);
    expect(events()).toEqual(['initiated', 'answered', 'media_confirmed', 'completed']);
    expect(last()).toMatchObject({
      result: 'connected',
      diagnosis: 'The keys could not be sent: the peer does not support telephone-event.',
    });
    expect(last().timeline.at(-1)?.detail).toBe(last().diagnosis);
  });

  it('reports that its time was too short for its keys', async () => {
    await answered({ dtmf: '1wwwwwwwwwwwwwwwwwwwwww', max_seconds: 5 });
    media.last.sendDtmf = () => new Promise(() => {});
    await talk(5000);
    expect(last()).toMatchObject({
      result: 'connected',
      diagnosis: 'The keys could not be sent: the test call ended before they were sent.',
    });
    expectNothingLeft();
  });

  it('continues when one of its reports is lost', async () => {
    const log = new QuietLog();
    const report = () => {
      throw new Error('disk full');
    };
    runTestCall(order, {
      clock,
      calls,
      routes,
      dialer,
      media,
      agents: new FakeAgents(),
      reporter: { report },
      log,
    });
    await settle();
    dialer.last.peer.answered(fakeAnswer);
    await settle();
    await talk(5000);
    expect(dialer.last.sent).toEqual(['BYE (The test call is complete.)']);
    expectNothingLeft();
  });

  it('uses its full time with a far end that neither echoes nor reports', async () => {
    await answered({ max_seconds: 6 });
    const speech = (_: Int16Array, heard: Int16Array) => heard.fill(5000);
    await talk(5980, { speak: speech });
    expect(last().result).toBe('pending');
    await talk(20, { speak: speech });
    expect(last()).toMatchObject({ result: 'connected', diagnosis: null, duration_seconds: 6 });
    expect(last().timeline.at(-1)?.detail).toMatch(
      /^Audio from the peer; no proof that it receives ours: .*no RTCP from the peer/,
    );
    expectNothingLeft();
  });

  it('ends early when an RTCP report says how much of the tone arrives', async () => {
    await answered();
    const speech = (_: Int16Array, heard: Int16Array) => heard.fill(5000);
    await talk(5000, { speak: speech, counts: { ...twoWay, peer_hears: 'yes', peer_loss_percent: 20 } });
    expect(last()).toMatchObject({
      result: 'connected',
      duration_seconds: 2,
      diagnosis: expect.stringMatching(/^Audio to you has gaps/),
    });
  });

  it('fails when RTCP reports until its end that nothing of the tone arrives', async () => {
    await answered();
    const speech = (_: Int16Array, heard: Int16Array) => heard.fill(5000);
    await talk(11_000, { speak: speech, counts: { ...twoWay, peer_loss_percent: 100 } });
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      duration_seconds: 10,
      diagnosis: expect.stringMatching(/^You receive no audio/),
      media: { verdict: 'receive_only' },
    });
    expect(last().timeline.at(-1)?.event).toBe('failed');
    expectNothingLeft();
  });

  it('is connected when the tone comes back, whatever RTCP says', async () => {
    await answered();
    await talk(11_000, { counts: { ...twoWay, peer_loss_percent: 100 } });
    expect(last()).toMatchObject({ result: 'connected', media: { verdict: 'two_way' } });
  });

  it('fails when audio came only before the answer', async () => {
    const leg = await dialling();
    leg.peer.progress(183, fakeAnswer);
    await settle();
    const early = { packets_sent: 0, packets_received: 59 };
    media.last.report = () => ({ ...nothing, ...twoWay, ...early });
    leg.peer.answered(fakeAnswer);
    await settle();
    await talk(11_000, { speak: () => {}, counts: { ...twoWay, packets_sent: 200, packets_received: 59 } });
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: 'We receive no audio from you: 59 packets came before the answer, and none after it.',
      media: { packets_sent: 200, packets_received: 0, verdict: 'send_only' },
    });
    expect(events()).toEqual(['initiated', 'early_media', 'answered', 'failed']);
  });

  it('fails when the far end hangs up after a few packets', async () => {
    const leg = await answered();
    await talk(60, { speak: () => {}, counts: { ...twoWay, packets_sent: 6, packets_received: 3 } });
    leg.peer.bye();
    await settle();
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: 'The far end hung up 60 ms after its answer, before audio passed in both directions.',
      media: { packets_sent: 6, packets_received: 3, verdict: 'send_only' },
    });
    expect(events()).toEqual(['initiated', 'answered', 'failed']);
  });

  it('fails when only a few packets arrive', async () => {
    await answered();
    await talk(11_000, { speak: () => {}, counts: { ...twoWay, packets_received: 3 } });
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: 'We receive no audio from you: only 3 packets arrived after the answer.',
    });
  });

  it('fails when audio arrived and is now lost on the way', async () => {
    await answered();
    const cause = 'Audio from the peer is lost on the way: its RTCP sender reports count 250 packets.';
    await talk(11_000, {
      speak: () => {},
      counts: { ...twoWay, verdict: 'send_only', packets_received: 200, packets_lost: 250, cause },
    });
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: expect.stringContaining('sender reports count 250 packets'),
      media: { verdict: 'send_only', packets_received: 200 },
    });
  });

  it('reports that only silence arrives', async () => {
    await answered();
    await talk(11_000, { speak: () => {} });
    expect(last()).toMatchObject({
      result: 'connected',
      duration_seconds: 10,
      diagnosis: expect.stringMatching(/^We receive only silence from you/),
    });
  });

  it.each([
    ['send_only', { packets_sent: 200 }, 'We receive no audio from you: no packet arrived from the peer.'],
    ['receive_only', { packets_received: 200 }, 'You receive no audio: no packet arrived from the peer.'],
    ['none', {}, 'We receive no audio from you: no packet arrived from the peer.'],
  ] as const)('fails because of missing media when packets go %s', async (verdict, packets, diagnosis) => {
    await answered();
    await talk(11_000, { counts: { verdict, ...packets } });
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      sip_code: 200,
      duration_seconds: 10,
      diagnosis,
      media: { verdict },
    });
    expect(last().timeline.at(-1)).toMatchObject({ event: 'failed', detail: diagnosis });
    expectNothingLeft();
  });

  it('reports that the answer has no common codec', async () => {
    const leg = await dialling();
    media.last.accept = async () => {
      const { CallRefused } = await import('../../call/call-refused.ts');
      throw new CallRefused(488, 'SDP refused: The answer has no codec of the offer');
    };
    leg.peer.answered(fakeAnswer);
    await settle();
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'BAD_ANSWER',
      codec: null,
      diagnosis: 'No common codec: 127.0.0.1:5061 answered with none of the offered codecs: PCMU.',
      media: { packets_sent: 0, packets_received: 0, verdict: 'none' },
    });
    expectNothingLeft();
  });

  it('fails over to the next endpoint and says why', async () => {
    places = [placeAt(5061), placeAt(5062)];
    const first = await dialling();
    first.peer.unreachable(connectionFailure('refused', '127.0.0.1:5061: connection refused'));
    await settle();
    dialer.last.peer.answered(fakeAnswer);
    await settle();
    await talk(5000);
    expect(events()).toEqual([
      'initiated',
      'failover',
      'initiated',
      'answered',
      'media_confirmed',
      'completed',
    ]);
    expect(last().timeline[1]?.detail).toBe(
      'Nothing listens at 127.0.0.1:5061: the connection was refused; check host, port and firewall. Failing over to 127.0.0.1:5062.',
    );
    expect(last()).toMatchObject({ result: 'connected', diagnosis: null });
  });

  it('fails with the last endpoint, and reports no failover without a next endpoint', async () => {
    places = [placeAt(5061), placeAt(5062)];
    (await dialling()).peer.unreachable(connectionFailure('refused', '127.0.0.1:5061: connection refused'));
    await settle();
    dialer.last.peer.timeout();
    await settle();
    expect(events()).toEqual(['initiated', 'failover', 'initiated', 'failed']);
    expect(last()).toMatchObject({
      status: 'failed',
      result: 'failed',
      error: 'ROUTE_TIMEOUT',
      duration_seconds: 0,
      sip_code: null,
      media: null,
      diagnosis: expect.stringMatching(/^127.0.0.1:5062 accepted the connection, but did not respond/),
    });
    expectNothingLeft();
  });

  it('to a busy number is busy', async () => {
    const leg = await dialling();
    leg.peer.refused(refusal(486, 'Busy Here'));
    expect(last()).toMatchObject({ status: 'busy', result: 'busy', error: null, sip_code: 486, media: null });
    expect(last().timeline.at(-1)).toMatchObject({
      event: 'busy',
      detail: '+14155550123 is busy (486 Busy Here).',
    });
    expectNothingLeft();
  });

  it('with a wrong password reports it', async () => {
    const credentials = { username: 'acme', password: 'wrong', realm: null };
    places = [placeAt(5061, { route: { ...route, credentials } })];
    (await dialling()).peer.refused(refusal(401, 'Unauthorized', true));
    await settle();
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'ROUTE_AUTH_FAILED',
      sip_code: 401,
      diagnosis: '127.0.0.1:5061 rejected our user name and password; check both (401 Unauthorized).',
    });
  });

  it('rings no longer than its time limit', async () => {
    const leg = await dialling({ max_seconds: 5 });
    leg.peer.progress(180, null);
    clock.advance(4999);
    expect(last().result).toBe('pending');
    clock.advance(1);
    expect(leg.sent).toEqual(['CANCEL (Nobody answered within 5 s.)']);
    expect(last()).toMatchObject({
      status: 'no-answer',
      result: 'no_answer',
      error: null,
      diagnosis: 'No answer from +14155550123 at 127.0.0.1:5061: nobody answered within 5 s.',
    });
    expect(events()).toEqual(['initiated', 'ringing', 'no_answer']);
    expectNothingLeft();
  });

  it('distinguishes a silent endpoint from a number that nobody answers, even with a short time limit', async () => {
    await dialling({ max_seconds: 5 });
    clock.advance(5000);
    await settle();
    expect(last()).toMatchObject({
      status: 'failed',
      result: 'failed',
      error: 'ROUTE_TIMEOUT',
      diagnosis: expect.stringMatching(
        /^127\.0\.0\.1:5061 accepted the connection, but did not respond to the INVITE/,
      ),
    });
    expectNothingLeft();
  });

  it('can be stopped, before and after its answer', async () => {
    await dialling();
    calls.stop('tc_1');
    expect(last()).toMatchObject({ status: 'failed', result: 'failed', error: 'API_STOP' });
    expect(events()).toEqual(['initiated', 'failed']);
    expectNothingLeft();
    states = [];
    await answered();
    await talk(200, { counts: { verdict: 'send_only' } });
    calls.stop('tc_1');
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'API_STOP',
      diagnosis: 'The call was stopped through the API.',
    });
    expectNothingLeft();
  });

  it('ends when the edge stops', async () => {
    await dialling();
    const drained = calls.drain(1000);
    clock.advance(1000);
    await drained;
    expect(last()).toMatchObject({ result: 'failed', error: 'EDGE_RESTARTED' });
    expectNothingLeft();
  });

  it('fails at once without its configuration, an address, or room', async () => {
    const run = async () => {
      states = [];
      const { legs } = dialer;
      runTestCall(order, {
        clock,
        calls,
        routes,
        dialer,
        media,
        agents: new FakeAgents(),
        reporter: { report: take },
        log: new QuietLog(),
      });
      await settle();
      expect(dialer.legs).toEqual(legs);
      return last();
    };
    places = null;
    expect(await run()).toMatchObject({ error: 'NO_ROUTE', sip_code: null, timeline: [{ event: 'failed' }] });
    places = [];
    expect(await run()).toMatchObject({ error: 'ROUTE_UNREACHABLE' });
    calls.drain(0);
    expect(await run()).toMatchObject({ error: 'DRAINING' });
    expectNothingLeft();
  });

  it('counts against the call limit, and rejects an id that is in use', async () => {
    await dialling();
    expect(calls.closedFor('org')).toBe('capacity');
    await expect(dialling()).rejects.toThrow('Call tc_1 already exists');
    calls.stop('tc_1');
    expectNothingLeft();
  });
});
