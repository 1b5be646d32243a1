import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { echoAgent, FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../../test/kit/fakes/fake-dialer.ts';
import { FakeRoutes, hopAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { FakeMedia, fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import type { OutboundPlan } from '../call-plan.ts';
import { Calls } from '../calls.ts';
import { CallRefused } from '../refused.ts';

const plan: OutboundPlan = {
  callId: 'call-1',
  orgId: 'org-1',
  from: '+14155550100',
  to: '+14155550123',
  agent: { ...echoAgent, request_data: { plan: 'gold' } },
  variables: { customer: '42' },
};

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

let clock: FakeClock;
let media: FakeMedia;
let agents: FakeAgents;
let routes: FakeRoutes;
let dialer: FakeDialer;
let records: CallRecord[];
/** Transcript lines. */
let lines: string[];
let calls: Calls;
/** Why reports cannot be stored. */
let refusal: string | null;

beforeEach(() => {
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  media = new FakeMedia();
  agents = new FakeAgents();
  routes = new FakeRoutes();
  routes.hops = [hopAt(5061)];
  dialer = new FakeDialer();
  records = [];
  refusal = null;
  lines = [];
  let next = 1;
  calls = new Calls({
    clock,
    media,
    agents,
    log: new QuietLog(),
    newId: () => `id-${next++}`,
    maxCalls: 1,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
    reporter: {
      report: (body) => {
        if (body.type === 'call') records.push(body.call);
        if (body.type === 'transcript') lines.push(...body.entries.map(({ text }) => text));
      },
      get refusal() {
        return refusal;
      },
    },
    outbound: { routes, dialer, ringTimeoutMs: 30_000 },
  });
});

const last = () => records.at(-1);
const expectNothingLeft = () => {
  expect(calls.size).toBe(0);
  expect(clock.pending).toBe(0);
  expect(media.legs.filter(({ closed }) => closed === 0)).toEqual([]);
};

async function dialling() {
  calls.place(plan);
  await settle();
  return dialer.last;
}

async function answered() {
  const leg = await dialling();
  leg.peer.answered(fakeAnswer);
  await settle();
  return leg;
}

describe('an outbound call', () => {
  it('is not placed, and has no record, while reports cannot be stored; a live one continues', async () => {
    const leg = await answered();
    refusal = 'The edge cannot store its reports';
    const before = records.length;
    expect(() => calls.place({ ...plan, callId: 'another' })).toThrow(refusal);
    expect(records).toHaveLength(before);
    leg.peer.bye();
    expect(last()?.termination).toBe('callee_hangup');
    expectNothingLeft();
  });

  it('offers its media, and starts its agent when answered', async () => {
    const leg = await dialling();
    expect(leg.invite).toMatchObject({
      sipCallId: 'id-1',
      from: '+14155550100',
      to: '+14155550123',
      offer: fakeAnswer,
      variables: { plan: 'gold', customer: '42', call_id: 'call-1', phone_number: '+14155550123' },
    });
    expect(agents.last.call).toMatchObject({ direction: 'outbound', trunkId: 'trunk-1', callId: 'call-1' });
    leg.peer.progress(100, null);
    leg.peer.progress(180, null);
    expect(agents.last.started).toBe(0);
    leg.peer.answered(fakeAnswer);
    await settle();
    expect(agents.last.started).toBe(1);
    expect(media.last.endpoint).toBe(agents.last);
    expect(records.map(({ status }) => status)).toEqual(['queued', 'initiated', 'ringing', 'in-progress']);
    leg.peer.bye();
    expect(last()).toMatchObject({ status: 'completed', termination: 'callee_hangup', codec: 'PCMU' });
    expect(routes.last.outcomes).toEqual([
      { kind: 'final', status: 200, phase: 'ringing', credentialsSent: false },
    ]);
    expectNothingLeft();
  });

  it.each([
    ['the codec offered first', ['Opus', 'PCMU'] as const, 'Opus'],
    ['the default codec offered first', [] as const, 'PCMU'],
  ])('makes its agent for %s', async (_, codecs, codec) => {
    routes.hops = [hopAt(5061, { route: { ...route, codecs } })];
    await answered();
    expect(agents.last.call).toMatchObject({ codec });
    calls.stop('call-1');
    expect(last()?.codec).toBe('PCMU');
  });

  it('waits for an agent that is not ready when the call is answered', async () => {
    agents.ready = false;
    const leg = await answered();
    expect(agents.last.started).toBe(0);
    agents.last.becomeReady();
    await settle();
    expect(agents.last.started).toBe(1);
    agents.last.host.hangup('all said');
    expect(leg.sent).toEqual(['BYE (all said)']);
    expectNothingLeft();
  });

  it('sends keys after the answer, before its agent speaks', async () => {
    calls.place({ ...plan, precallDtmf: '1w2#' });
    await settle();
    const pressed = Promise.withResolvers<void>();
    media.last.sendDtmf = async (digits) => {
      expect(digits).toBe('1w2#');
      await pressed.promise;
    };
    dialer.last.peer.answered(fakeAnswer);
    await settle();
    expect(agents.last.started).toBe(0);
    pressed.resolve();
    await settle();
    expect(agents.last.started).toBe(1);
    calls.stop('call-1');
    expectNothingLeft();
  });

  it('continues without keys when the callee does not support them', async () => {
    calls.place({ ...plan, precallDtmf: '1' });
    await settle();
    media.last.sendDtmf = () => Promise.reject(new Error('no telephone-event'));
    dialer.last.peer.answered(fakeAnswer);
    await settle();
    expect(agents.last.started).toBe(1);
    expect(lines).toEqual(['The keys 1 could not be sent: no telephone-event.']);
    calls.stop('call-1');
  });

  it('is not dialed without an agent', async () => {
    calls.place({ ...plan, agent: null });
    await settle();
    expect(dialer.legs).toEqual([]);
    expect(last()).toMatchObject({ status: 'failed', termination: 'no_agent' });
    expectNothingLeft();
  });

  it('is canceled when its agent cannot speak', async () => {
    agents.ready = false;
    const leg = await dialling();
    agents.last.refuse(new Error('no socket'));
    await settle();
    expect(leg.sent).toEqual(['CANCEL (no socket)']);
    expect(last()).toMatchObject({ status: 'failed', termination: 'agent_unavailable', sip_code: null });
    expect(routes.last.outcomes).toEqual([{ kind: 'canceled' }]);
    expectNothingLeft();
  });

  it('is canceled on ring time-out, and stores its record first', async () => {
    const leg = await dialling();
    leg.peer.progress(180, null);
    leg.beforeSend = () => expect(last()?.ended_at).not.toBeNull();
    clock.advance(29_999);
    expect(leg.sent).toEqual([]);
    clock.advance(1);
    expect(leg.sent).toEqual(['CANCEL (Nobody answered within 30 s.)']);
    expect(last()).toMatchObject({ status: 'no-answer', termination: 'no_answer', hangup_by: 'timeout' });
    expectNothingLeft();
  });

  it('blames the endpoint and fails over when no response comes within the ring time', async () => {
    routes.hops = [hopAt(5061), hopAt(5062)];
    const leg = await dialling();
    clock.advance(30_000);
    await settle();
    expect(leg.sent).toEqual(['CANCEL (No response in time)']);
    expect(routes.last.outcomes).toEqual([{ kind: 'no_response' }]);
    expect(dialer.last.target.port).toBe(5062);
    clock.advance(30_000);
    await settle();
    expect(last()).toMatchObject({ status: 'failed', termination: 'route_timeout' });
    expectNothingLeft();
  });

  it('can be stopped before its first INVITE', async () => {
    calls.place(plan);
    calls.stop('call-1');
    await settle();
    expect(dialer.legs).toEqual([]);
    expect(last()).toMatchObject({ status: 'canceled', hangup_by: 'api' });
    expectNothingLeft();
  });

  it('fails at once without a route, a port, or room', async () => {
    routes.hops = null;
    calls.place(plan);
    expect(last()).toMatchObject({ status: 'failed', termination: 'no_route', sip_code: null });
    routes.hops = [hopAt(5061)];
    media.exhausted = true;
    calls.place(plan);
    await settle();
    expect(last()).toMatchObject({ status: 'failed', termination: 'no_media_port', sip_code: null });
    media.exhausted = false;
    await dialling();
    calls.place({ ...plan, callId: 'call-2' });
    expect(last()).toMatchObject({ id: 'call-2', status: 'failed', termination: 'capacity' });
    calls.stop('call-1');
    expectNothingLeft();
  });

  it('is not placed while the edge drains; ringing ones are canceled when the drain times out', async () => {
    const leg = await dialling();
    const drained = calls.drain(1000);
    calls.place({ ...plan, callId: 'call-2' });
    expect(last()).toMatchObject({ id: 'call-2', termination: 'draining' });
    clock.advance(1000);
    await drained;
    expect(leg.sent).toHaveLength(1);
    expect(last()).toMatchObject({ id: 'call-1', status: 'canceled', termination: 'edge_restarted' });
    expectNothingLeft();
  });

  it('ends with the reason why no address was found', async () => {
    routes.hops = [];
    calls.place(plan);
    await settle();
    expect(last()).toMatchObject({ status: 'failed', termination: 'route_unreachable' });
    expectNothingLeft();
  });

  it('follows hold and resume by the callee', async () => {
    const leg = await answered();
    const offer = fakeAnswer.replace('a=sendrecv', 'a=sendonly');
    expect(await leg.peer.reanswer(offer)).toContain('a=recvonly');
    expect(calls.find('call-1')?.state).toBe('held');
    await leg.peer.reanswer(fakeAnswer);
    expect(calls.find('call-1')?.state).toBe('up');
    calls.stop('call-1');
    expectNothingLeft();
  });
});

describe('failover', () => {
  it('leaves out the same headers, and notes it in the transcript once', async () => {
    routes.hops = [hopAt(5061), hopAt(5062)];
    const headers = [{ name: 'X-Crm', why: 'the variable crm has no value' }];
    const first = await dialling();
    first.peer.headersLeftOut?.(headers);
    first.peer.unreachable(connectionFailure('no_route', 'no route to host'));
    await settle();
    dialer.last.peer.headersLeftOut?.(headers);
    expect(lines).toEqual(['The header X-Crm was not sent: the variable crm has no value.']);
    dialer.last.peer.unreachable(connectionFailure('no_route', 'no route to host'));
    await settle();
    expectNothingLeft();
  });

  const second = hopAt(5062, { route: { ...route, trunkId: 'trunk-2', codecs: ['PCMA'] } });

  it('tries the next endpoint after a failure, with its own media leg', async () => {
    routes.hops = [hopAt(5061), second];
    const first = await dialling();
    first.peer.unreachable(connectionFailure('no_route', 'no route to host'));
    await settle();
    expect(dialer.legs).toHaveLength(2);
    expect(media.legs.map(({ closed, options }) => [closed, options.codecs])).toEqual([
      [1, ['PCMU']],
      [0, ['PCMA']],
    ]);
    expect(agents.created).toHaveLength(1);
    expect(last()).toMatchObject({
      trunk_id: 'trunk-2',
      failover_attempts: [{ port: 5061, error: 'unreachable: no route to host' }],
    });
    dialer.last.peer.timeout();
    await settle();
    expect(last()).toMatchObject({ status: 'failed', termination: 'route_timeout' });
    expect(last()?.failover_attempts).toHaveLength(2);
    expectNothingLeft();
  });

  it('does not happen once the call rang', async () => {
    routes.hops = [hopAt(5061), second];
    const first = await dialling();
    first.peer.progress(183, null);
    first.peer.refused({
      status: 503,
      reason: 'Service Unavailable',
      warning: null,
      retryAfterS: null,
      authenticated: false,
    });
    await settle();
    expect(dialer.legs).toHaveLength(1);
    expect(last()).toMatchObject({ termination: 'route_failed', sip_code: 503 });
    expectNothingLeft();
  });
});

describe('early media', () => {
  it('is set up before the answer, which need not repeat it', async () => {
    const leg = await dialling();
    leg.peer.progress(183, fakeAnswer);
    await settle();
    expect(media.last.answers).toEqual([fakeAnswer]);
    expect(media.last.endpoint).toBeNull();
    leg.peer.answered(null);
    await settle();
    expect(agents.last.started).toBe(1);
    calls.stop('call-1');
  });

  it('does not end the call when it is unusable', async () => {
    const leg = await dialling();
    leg.peer.progress(183, 'v=0\r\n');
    await settle();
    leg.peer.answered(fakeAnswer);
    await settle();
    expect(media.last.answers).toEqual(['v=0\r\n', fakeAnswer]);
    expect(agents.last.started).toBe(1);
    calls.stop('call-1');
  });

  it('of a fork other than the one that answers is replaced by a new offer', async () => {
    const leg = await dialling();
    leg.peer.progress(183, fakeAnswer);
    await settle();
    media.last.accept = async () => {
      throw new CallRefused(488, 'The answer moves media');
    };
    const other = fakeAnswer.replace('10000', '20000');
    leg.peer.answered(other);
    await settle();
    expect(leg.sent).toEqual(['re-INVITE']);
    expect(media.legs.map(({ closed }) => closed)).toEqual([1, 0]);
    expect(agents.last.started).toBe(0);
    expect(await leg.peer.reoffer()).toBe(fakeAnswer);
    await leg.peer.reaccept(other);
    await settle();
    expect(media.last.answers).toEqual([other]);
    expect(agents.last.started).toBe(1);
    calls.stop('call-1');
    expectNothingLeft();
  });
});

describe('an answer', () => {
  it.each([
    ['none', null],
    ['an unusable one', 'v=0\r\n'],
  ])('without media (%s) ends the call with BYE', async (_name, sdp) => {
    const leg = await dialling();
    leg.peer.answered(sdp);
    await settle();
    expect(leg.sent).toHaveLength(1);
    expect(leg.sent[0]).toMatch(/^BYE/);
    expect(last()).toMatchObject({ status: 'completed', termination: 'bad_answer', hangup_by: 'error' });
    expectNothingLeft();
  });
});
