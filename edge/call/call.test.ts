import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { FakeLeg, sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import type { CallPlan } from './call-plan.ts';
import { CallRefused } from './call-refused.ts';
import { Calls } from './calls.ts';

const plan: CallPlan = {
  orgId: 'org-1',
  number: '+14155550100',
  trunkId: 'trunk-1',
  agent: { ...echoAgent, request_data: { plan: 'gold', to: 'nobody' } },
  variables: { customer: '42' },
};

/** Lets every pending promise settle. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

let clock: FakeClock;
let media: FakeMedia;
let agents: FakeAgents;
let log: QuietLog;
let records: CallRecord[];
let reports: ReportBody[];
let calls: Calls;
let failReports: boolean;

beforeEach(() => {
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  media = new FakeMedia();
  agents = new FakeAgents();
  log = new QuietLog();
  records = [];
  reports = [];
  failReports = false;
  let next = 1;
  calls = new Calls({
    clock,
    media,
    agents,
    log,
    newId: () => `id-${next++}`,
    maxCalls: 2,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
    reporter: {
      report: (body) => {
        if (failReports) throw new Error('disk full');
        reports.push(body);
        if (body.type === 'call') records.push(body.call);
      },
    },
  });
});

async function answered(leg = new FakeLeg()): Promise<FakeLeg> {
  calls.admit(leg, plan, ['PCMU']);
  await settle();
  leg.peer.answered();
  leg.peer.acknowledged(null);
  await settle();
  return leg;
}

const last = () => records.at(-1);

describe('a call', () => {
  it('is answered when media and agent are ready, and starts the agent at the ACK', async () => {
    const leg = new FakeLeg();
    calls.admit(leg, plan, ['PCMU']);
    await settle();
    expect(leg.sent).toEqual(['200']);
    leg.peer.answered();
    expect(agents.last.started).toBe(0);
    leg.peer.acknowledged(null);
    await settle();
    expect(agents.last.started).toBe(1);
    expect(media.last.endpoint).toBe(agents.last);
    expect(records.map((record) => record.status)).toEqual(['initiated', 'in-progress']);
    expect(last()).toMatchObject({
      id: 'id-1',
      org_id: 'org-1',
      trunk_id: 'trunk-1',
      sip_call_id: 'call-1@test',
      answered_at: '2030-01-01T00:00:00.000Z',
      ended_at: null,
      sip_code: null,
      codec: 'PCMU',
      agent_kind: 'echo',
      max_duration: 30,
    });
  });

  it('passes the agent header variables over request_data, and no built-in names', async () => {
    await answered();
    expect(agents.last.call.variables).toEqual({ plan: 'gold', customer: '42' });
  });

  it('records the metadata of its number and the external id of its headers', async () => {
    const leg = new FakeLeg();
    const agent = { ...echoAgent, metadata: { team: 'west' } };
    calls.admit(leg, { ...plan, agent, variables: { external_id: 'E-7' } }, []);
    await settle();
    expect(last()?.metadata).toEqual({ team: 'west', external_id: 'E-7' });
  });

  it('rings when the agent takes longer than 200 ms', async () => {
    agents.ready = false;
    const leg = new FakeLeg();
    calls.admit(leg, plan, []);
    await settle();
    clock.advance(199);
    expect(leg.sent).toEqual([]);
    clock.advance(1);
    expect(leg.sent).toEqual(['180']);
    agents.last.becomeReady();
    await settle();
    expect(leg.sent).toEqual(['180', '200']);
    expect(records.map((record) => record.status)).toEqual(['initiated', 'ringing']);
  });

  it('does not send 180 when canRing is false', async () => {
    agents.ready = false;
    const leg = new FakeLeg();
    leg.canRing = false;
    calls.admit(leg, plan, []);
    await settle();
    clock.advance(1000);
    expect(leg.sent).toEqual([]);
  });

  it('reports its final record before it returns from bye(), which sends the 200 to BYE', async () => {
    const leg = await answered();
    clock.advance(1500);
    leg.peer.bye();
    expect(last()).toMatchObject({
      status: 'completed',
      termination: 'caller_hangup',
      hangup_by: 'peer',
      sip_code: 200,
      sip_reason: 'OK',
      ended_at: '2030-01-01T00:00:01.500Z',
      media: { packets_received: 20 },
    });
    expect(leg.sent).toEqual(['200']);
    expect(agents.last.closedFor).toEqual(['The caller hung up.']);
    expect(media.last.closed).toBe(1);
    expect(calls.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('reports its final record before its own BYE', async () => {
    const leg = await answered();
    leg.beforeSend = () => expect(last()?.ended_at).not.toBeNull();
    agents.last.host.hangup('all said');
    expect(leg.sent).toEqual(['200', 'BYE (all said)']);
    expect(last()).toMatchObject({
      termination: 'agent_hangup',
      termination_detail: 'all said',
      hangup_by: 'agent',
    });
  });

  it('rejects with 488 and the media Warning, without creating an agent', async () => {
    const leg = new FakeLeg({ offer: 'v=0\r\n' });
    calls.admit(leg, plan, []);
    await settle();
    expect(leg.sent).toEqual([{ status: 488, warning: 'SRTP with AES_CM_128_HMAC_SHA1_80 is required' }]);
    expect(agents.created).toEqual([]);
    expect(last()).toMatchObject({ status: 'failed', sip_code: 488, termination: 'media_refused' });
    expect(clock.pending).toBe(0);
  });

  it('rejects with 503 and Retry-After when no RTP port is free', async () => {
    media.exhausted = true;
    const leg = new FakeLeg();
    calls.admit(leg, plan, []);
    await settle();
    expect(leg.sent).toEqual([{ status: 503, retryAfterS: 10 }]);
    expect(last()).toMatchObject({ status: 'failed', termination: 'no_media_port', media: null });
  });

  it('answers 480 when the agent refuses or is not ready in time', async () => {
    agents.ready = false;
    const first = new FakeLeg();
    calls.admit(first, plan, []);
    await settle();
    agents.last.refuse(new Error('socket did not open'));
    await settle();
    expect(first.sent).toEqual([{ status: 480 }]);
    expect(last()).toMatchObject({
      status: 'no-answer',
      termination: 'agent_unavailable',
      termination_detail: 'socket did not open',
    });

    const second = new FakeLeg();
    calls.admit(second, plan, []);
    await settle();
    clock.advance(5000);
    await settle();
    expect(second.sent).toEqual(['180', { status: 480 }]);
    expect(media.last.closed).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('is canceled during agent preparation, and sends nothing when the agent is ready later', async () => {
    agents.ready = false;
    const leg = new FakeLeg();
    calls.admit(leg, plan, []);
    await settle();
    leg.peer.canceled();
    agents.last.becomeReady();
    await settle();
    expect(leg.sent).toEqual([]);
    expect(last()).toMatchObject({ status: 'canceled', sip_code: 487, hangup_by: 'peer', answered_at: null });
    expect(media.last.closed).toBe(1);
  });

  it('counts as unanswered when CANCEL crosses the 200', async () => {
    const leg = new FakeLeg();
    calls.admit(leg, plan, []);
    await settle();
    leg.peer.canceled();
    expect(last()).toMatchObject({ status: 'canceled', answered_at: null });
    expect(calls.size).toBe(0);
  });

  it('waits for the ACK before the BYE when it is ended in between', async () => {
    const leg = new FakeLeg();
    const call = calls.admit(leg, plan, []);
    await settle();
    leg.peer.answered();
    calls.stop(call.id);
    expect(leg.sent).toEqual(['200']);
    expect(last()).toMatchObject({ status: 'completed', termination: 'api_stop', hangup_by: 'api' });
    leg.peer.acknowledged(null);
    expect(leg.sent).toEqual(['200', 'BYE (The call was stopped through the API.)']);
    expect(agents.last.started).toBe(0);
    expect(calls.size).toBe(0);
  });

  it('takes the answer to a late offer from the ACK', async () => {
    const leg = new FakeLeg({ offer: null });
    calls.admit(leg, plan, []);
    await settle();
    leg.peer.answered();
    leg.peer.acknowledged(sdpOffer);
    await settle();
    expect(media.last.answers).toEqual([sdpOffer]);
    expect(agents.last.started).toBe(1);
  });

  it.each([
    ['unusable', 'v=0\r\n'],
    ['missing', null],
  ])('hangs up when the answer to its offer is %s', async (_name, sdp) => {
    const leg = new FakeLeg({ offer: null });
    calls.admit(leg, plan, []);
    await settle();
    leg.peer.answered();
    leg.peer.acknowledged(sdp);
    await settle();
    expect(leg.sent[1]).toMatch(/^BYE/);
    expect(last()).toMatchObject({ termination: 'bad_answer', status: 'completed' });
  });

  it('ends at its maximum duration', async () => {
    const leg = await answered();
    media.last.silentForMs = () => 0;
    clock.advance(30 * 60_000 - 1);
    expect(leg.sent).toEqual(['200']);
    clock.advance(1);
    expect(last()).toMatchObject({ termination: 'max_duration', hangup_by: 'timeout' });
    expect(clock.pending).toBe(0);
  });

  it.each([3_600_000, -3_600_000, 86_400_000])(
    'keeps its recorded duration and its silence time-out when the clock is set by %d ms',
    async (jump) => {
      const leg = await answered();
      media.last.silentForMs = () => 0;
      clock.advance(2_000);
      clock.jump(jump);
      clock.advance(4_000);
      leg.peer.bye();
      await settle();
      expect(last()).toMatchObject({
        started_at: '2030-01-01T00:00:00.000Z',
        answered_at: '2030-01-01T00:00:00.000Z',
        ended_at: '2030-01-01T00:00:06.000Z',
      });
      await answered();
      clock.jump(-jump);
      media.last.silentForMs = () => 61_000;
      clock.advance(61_000);
      expect(last()).toMatchObject({ termination: 'media_timeout' });
      expect(clock.pending).toBe(0);
    },
  );

  it('probes a silent peer on hold every minute, continues when it responds, and ends when it is gone', async () => {
    const leg = await answered();
    await leg.peer.reanswer(`${sdpOffer}a=sendonly\r\n`);
    // Music on hold: no probe.
    media.last.silentMs = 0;
    clock.advance(5 * 60_000);
    expect(leg.asked).toHaveLength(0);
    media.last.silentMs = 400_000;
    for (const [index, gone] of [null, null, 'It has no such call.'].entries()) {
      clock.advance(60_000);
      expect(leg.asked).toHaveLength(index + 1);
      expect(calls.find('id-1')?.state).toBe('held');
      leg.asked[index]?.(gone);
    }
    expect(leg.sent.at(-1)).toBe('BYE (It has no such call.)');
    expect(last()).toMatchObject({ termination: 'peer_gone', hangup_by: 'timeout', status: 'completed' });
    expect(clock.pending).toBe(0);
  });

  it('ignores a failed probe sent before the hold ended or before media arrived', async () => {
    const leg = await answered();
    media.last.silentMs = 60_000;
    await leg.peer.reanswer(`${sdpOffer}a=inactive\r\n`);
    clock.advance(60_000);
    media.last.silentMs = 20;
    leg.asked[0]?.('No answer came.');
    expect(calls.find('id-1')?.state).toBe('held');
    media.last.silentMs = 60_000;
    clock.advance(60_000);
    await leg.peer.reanswer(sdpOffer);
    leg.asked[1]?.('No answer came.');
    expect(calls.find('id-1')?.state).toBe('up');
    expect(leg.asked).toHaveLength(2);
  });

  it('ends after a minute without media, but not while on hold', async () => {
    const leg = await answered();
    media.last.silentMs = 60_000;
    await leg.peer.reanswer(`${sdpOffer}a=sendonly\r\n`);
    clock.advance(10 * 60_000);
    expect(calls.find('id-1')?.state).toBe('held');
    await leg.peer.reanswer(sdpOffer);
    expect(calls.find('id-1')?.state).toBe('up');
    media.last.silentMs = 700_000;
    clock.advance(59_999);
    expect(calls.size).toBe(1);
    clock.advance(60_000);
    expect(last()).toMatchObject({ termination: 'media_timeout' });
  });

  it('keeps the session when a later offer is rejected', async () => {
    const leg = await answered();
    await expect(leg.peer.reanswer('v=0\r\n')).rejects.toThrow(CallRefused);
    expect(calls.find('id-1')?.state).toBe('up');
  });

  it('ends with the agent', async () => {
    const leg = await answered();
    agents.last.host.fail(new Error('model gone'));
    expect(last()).toMatchObject({
      termination: 'agent_failed',
      termination_detail: 'model gone',
      hangup_by: 'error',
    });
    expect(leg.sent[1]).toBe('BYE (model gone)');
  });

  it('reports transcript lines and the variables the agent extracted', async () => {
    const leg = await answered();
    const line = {
      id: 't1',
      at: '2030-01-01T00:00:00.000Z',
      user: 'user' as const,
      text: '1',
      node_id: null,
      node_name: null,
    };
    agents.last.host.transcript(line);
    agents.last.host.variables({ choice: 'sales' });
    leg.peer.bye();
    agents.last.host.transcript(line);
    expect(reports.filter((report) => report.type === 'transcript')).toEqual([
      { type: 'transcript', call_id: 'id-1', entries: [line] },
    ]);
    expect(last()?.variables).toEqual({ customer: '42', choice: 'sales' });
  });

  it('notes once in its transcript that keys are impossible, before its agent speaks', async () => {
    const leg = new FakeLeg();
    calls.admit(leg, plan, ['PCMU']);
    await settle();
    media.last.keys = 'none';
    leg.peer.answered();
    leg.peer.acknowledged(null);
    await settle();
    await leg.peer.reanswer(sdpOffer);
    expect(agents.last.host.keysPossible()).toBe(false);
    const lines = reports.flatMap((report) => (report.type === 'transcript' ? report.entries : []));
    expect(lines.map(({ user, text }) => `${user}: ${text}`)).toEqual([
      "agent-action: DTMF is unavailable on this call: the peer's SDP has no telephone-event (RFC 4733), and SIP INFO is not supported.",
    ]);
    calls.stop('id-1');
  });

  it('notes nothing about keys when they are possible', async () => {
    await answered();
    expect(agents.last.host.keysPossible()).toBe(true);
    expect(reports.filter(({ type }) => type === 'transcript')).toEqual([]);
  });

  it('continues, and sends its BYE, when reports fail', async () => {
    failReports = true;
    const leg = await answered();
    agents.last.host.hangup('done');
    expect(leg.sent).toEqual(['200', 'BYE (done)']);
    expect(log.lines.filter((line) => line.level === 'error').length).toBeGreaterThan(0);
    expect(calls.size).toBe(0);
  });

  it('writes call_id and trunk_id on every line', async () => {
    const leg = await answered();
    leg.peer.bye();
    expect(log.lines.length).toBeGreaterThan(2);
    for (const line of log.lines) expect(line.fields).toMatchObject({ call_id: 'id-1', trunk_id: 'trunk-1' });
  });
});

describe('the calls of an edge', () => {
  it('count against the capacity', async () => {
    await answered();
    expect(calls.closedFor(plan.orgId)).toBeNull();
    await answered(new FakeLeg({ sipCallId: 'call-2@test' }));
    expect(calls.closedFor(plan.orgId)).toBe('capacity');
  });

  it('are reported when they are rejected', () => {
    const leg = new FakeLeg();
    calls.refuse(leg, plan, { code: 'capacity', detail: null });
    expect(leg.sent).toEqual([{ status: 503, retryAfterS: 10 }]);
    expect(records).toHaveLength(1);
    expect(last()).toMatchObject({ status: 'failed', sip_code: 503, sip_reason: 'Service Unavailable' });
    expect(calls.size).toBe(0);
  });

  it('drain: the last call to end ends the drain', async () => {
    const leg = await answered();
    let done = false;
    const drained = calls.drain(10_000).then(() => {
      done = true;
    });
    expect(calls.closedFor(plan.orgId)).toBe('draining');
    await settle();
    expect(done).toBe(false);
    leg.peer.bye();
    await drained;
    expect(clock.pending).toBe(0);
  });

  it('drain: the remaining calls are ended after the time-out', async () => {
    const up = await answered();
    agents.ready = false;
    const waiting = new FakeLeg();
    calls.admit(waiting, plan, []);
    await settle();
    const drained = calls.drain(10_000);
    clock.advance(10_000);
    await drained;
    expect(up.sent[1]).toMatch(/^BYE/);
    expect(waiting.sent.at(-1)).toEqual({ status: 503, retryAfterS: 10 });
    expect(records.slice(-2).map((record) => record.termination)).toEqual(['edge_restarted', 'draining']);
    expect(calls.size).toBe(0);
  });

  it('end without a BYE when the engine is lost', async () => {
    const leg = await answered();
    calls.endAll({ code: 'engine_lost', detail: null });
    expect(leg.sent).toEqual(['200']);
    expect(last()).toMatchObject({ termination: 'engine_lost', status: 'completed' });
  });
});
