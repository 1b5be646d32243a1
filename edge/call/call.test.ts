import { describe, expect, it } from 'vitest';
import { callScene, plan, settle } from '../../test/kit/edge/inbound-calls.ts';
import { echoAgent } from '../../test/kit/fakes/fake-agents.ts';
import { FakeLeg, sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { CallRefused } from './refused.ts';

const scene = callScene();
const { last } = scene;

async function answered(leg = new FakeLeg()): Promise<FakeLeg> {
  scene.calls.admit(leg, plan, ['PCMU']);
  await settle();
  leg.peer.answered();
  leg.peer.acknowledged(null);
  await settle();
  return leg;
}

describe('a call', () => {
  it('is answered when media and agent are ready, and starts the agent at the ACK', async () => {
    const leg = new FakeLeg();
    scene.calls.admit(leg, plan, ['PCMU']);
    await settle();
    expect(leg.sent).toEqual(['200']);
    leg.peer.answered();
    expect(scene.agents.last.started).toBe(0);
    leg.peer.acknowledged(null);
    await settle();
    expect(scene.agents.last.started).toBe(1);
    expect(scene.media.last.endpoint).toBe(scene.agents.last);
    expect(scene.records.map((record) => record.status)).toEqual(['initiated', 'in-progress']);
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
    expect(scene.agents.last.call.variables).toEqual({ plan: 'gold', customer: '42' });
  });

  it('records the metadata of its number and the external id of its headers', async () => {
    const leg = new FakeLeg();
    const agent = { ...echoAgent, metadata: { team: 'west' } };
    scene.calls.admit(leg, { ...plan, agent, variables: { external_id: 'E-7' } }, []);
    await settle();
    expect(last()?.metadata).toEqual({ team: 'west', external_id: 'E-7' });
  });

  it('rings when the agent takes longer than 200 ms', async () => {
    scene.agents.ready = false;
    const leg = new FakeLeg();
    scene.calls.admit(leg, plan, []);
    await settle();
    scene.clock.advance(199);
    expect(leg.sent).toEqual([]);
    scene.clock.advance(1);
    expect(leg.sent).toEqual(['180']);
    scene.agents.last.becomeReady();
    await settle();
    expect(leg.sent).toEqual(['180', '200']);
    expect(scene.records.map((record) => record.status)).toEqual(['initiated', 'ringing']);
  });

  it('does not send 180 when canRing is false', async () => {
    scene.agents.ready = false;
    const leg = new FakeLeg();
    leg.canRing = false;
    scene.calls.admit(leg, plan, []);
    await settle();
    scene.clock.advance(1000);
    expect(leg.sent).toEqual([]);
  });

  it('reports its final record before it returns from bye(), which sends the 200 to BYE', async () => {
    const leg = await answered();
    scene.clock.advance(1500);
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
    expect(scene.agents.last.closedFor).toEqual(['The caller hung up.']);
    expect(scene.media.last.closed).toBe(1);
    expect(scene.calls.size).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('reports its final record before its own BYE', async () => {
    const leg = await answered();
    leg.beforeSend = () => expect(last()?.ended_at).not.toBeNull();
    scene.agents.last.host.hangup('all said');
    expect(leg.sent).toEqual(['200', 'BYE (all said)']);
    expect(last()).toMatchObject({
      termination: 'agent_hangup',
      termination_detail: 'all said',
      hangup_by: 'agent',
    });
  });

  it('waits for the ACK before the BYE when it is ended in between', async () => {
    const leg = new FakeLeg();
    const call = scene.calls.admit(leg, plan, []);
    await settle();
    leg.peer.answered();
    scene.calls.stop(call.id);
    expect(leg.sent).toEqual(['200']);
    expect(last()).toMatchObject({ status: 'completed', termination: 'api_stop', hangup_by: 'api' });
    leg.peer.acknowledged(null);
    expect(leg.sent).toEqual(['200', 'BYE (The call was stopped through the API.)']);
    expect(scene.agents.last.started).toBe(0);
    expect(scene.calls.size).toBe(0);
  });

  it('takes the answer to a late offer from the ACK', async () => {
    const leg = new FakeLeg({ offer: null });
    scene.calls.admit(leg, plan, []);
    await settle();
    leg.peer.answered();
    leg.peer.acknowledged(sdpOffer);
    await settle();
    expect(scene.media.last.answers).toEqual([sdpOffer]);
    expect(scene.agents.last.started).toBe(1);
  });

  it.each([
    ['unusable', 'v=0\r\n'],
    ['missing', null],
  ])('hangs up when the answer to its offer is %s', async (_name, sdp) => {
    const leg = new FakeLeg({ offer: null });
    scene.calls.admit(leg, plan, []);
    await settle();
    leg.peer.answered();
    leg.peer.acknowledged(sdp);
    await settle();
    expect(leg.sent[1]).toMatch(/^BYE/);
    expect(last()).toMatchObject({ termination: 'bad_answer', status: 'completed' });
  });

  it('ends at its maximum duration', async () => {
    const leg = await answered();
    scene.media.last.silentForMs = () => 0;
    scene.clock.advance(30 * 60_000 - 1);
    expect(leg.sent).toEqual(['200']);
    scene.clock.advance(1);
    expect(last()).toMatchObject({ termination: 'max_duration', hangup_by: 'timeout' });
    expect(scene.clock.pending).toBe(0);
  });

  it.each([3_600_000, -3_600_000, 86_400_000])(
    'keeps its recorded duration and its silence time-out when the clock is set by %d ms',
    async (jump) => {
      const leg = await answered();
      scene.media.last.silentForMs = () => 0;
      scene.clock.advance(2_000);
      scene.clock.jump(jump);
      scene.clock.advance(4_000);
      leg.peer.bye();
      await settle();
      expect(last()).toMatchObject({
        started_at: '2030-01-01T00:00:00.000Z',
        answered_at: '2030-01-01T00:00:00.000Z',
        ended_at: '2030-01-01T00:00:06.000Z',
      });
      await answered();
      scene.clock.jump(-jump);
      scene.media.last.silentForMs = () => 61_000;
      scene.clock.advance(61_000);
      expect(last()).toMatchObject({ termination: 'media_timeout' });
      expect(scene.clock.pending).toBe(0);
    },
  );

  it('probes a silent peer on hold every minute, continues when it responds, and ends when it is gone', async () => {
    const leg = await answered();
    await leg.peer.reanswer(`${sdpOffer}a=sendonly\r\n`);
    // Music on hold: no probe.
    scene.media.last.silentMs = 0;
    scene.clock.advance(5 * 60_000);
    expect(leg.asked).toHaveLength(0);
    scene.media.last.silentMs = 400_000;
    for (const [index, gone] of [null, null, 'It has no such call.'].entries()) {
      scene.clock.advance(60_000);
      expect(leg.asked).toHaveLength(index + 1);
      expect(scene.calls.find('id-1')?.state).toBe('held');
      leg.asked[index]?.(gone);
    }
    expect(leg.sent.at(-1)).toBe('BYE (It has no such call.)');
    expect(last()).toMatchObject({ termination: 'peer_gone', hangup_by: 'timeout', status: 'completed' });
    expect(scene.clock.pending).toBe(0);
  });

  it('ignores a failed probe sent before the hold ended or before media arrived', async () => {
    const leg = await answered();
    scene.media.last.silentMs = 60_000;
    await leg.peer.reanswer(`${sdpOffer}a=inactive\r\n`);
    scene.clock.advance(60_000);
    scene.media.last.silentMs = 20;
    leg.asked[0]?.('No answer came.');
    expect(scene.calls.find('id-1')?.state).toBe('held');
    scene.media.last.silentMs = 60_000;
    scene.clock.advance(60_000);
    await leg.peer.reanswer(sdpOffer);
    leg.asked[1]?.('No answer came.');
    expect(scene.calls.find('id-1')?.state).toBe('up');
    expect(leg.asked).toHaveLength(2);
  });

  it('ends after a minute without media, but not while on hold', async () => {
    const leg = await answered();
    scene.media.last.silentMs = 60_000;
    await leg.peer.reanswer(`${sdpOffer}a=sendonly\r\n`);
    scene.clock.advance(10 * 60_000);
    expect(scene.calls.find('id-1')?.state).toBe('held');
    await leg.peer.reanswer(sdpOffer);
    expect(scene.calls.find('id-1')?.state).toBe('up');
    scene.media.last.silentMs = 700_000;
    scene.clock.advance(59_999);
    expect(scene.calls.size).toBe(1);
    scene.clock.advance(60_000);
    expect(last()).toMatchObject({ termination: 'media_timeout' });
  });

  it('keeps the session when a later offer is rejected', async () => {
    const leg = await answered();
    await expect(leg.peer.reanswer('v=0\r\n')).rejects.toThrow(CallRefused);
    expect(scene.calls.find('id-1')?.state).toBe('up');
  });

  it('ends with the agent', async () => {
    const leg = await answered();
    scene.agents.last.host.fail(new Error('model gone'));
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
    scene.agents.last.host.transcript(line);
    scene.agents.last.host.variables({ choice: 'sales' });
    leg.peer.bye();
    scene.agents.last.host.transcript(line);
    expect(scene.reports.filter((report) => report.type === 'transcript')).toEqual([
      { type: 'transcript', call_id: 'id-1', entries: [line] },
    ]);
    expect(last()?.variables).toEqual({ customer: '42', choice: 'sales' });
  });

  it('notes once in its transcript that keys are impossible, before its agent speaks', async () => {
    const leg = new FakeLeg();
    scene.calls.admit(leg, plan, ['PCMU']);
    await settle();
    scene.media.last.keys = 'none';
    leg.peer.answered();
    leg.peer.acknowledged(null);
    await settle();
    await leg.peer.reanswer(sdpOffer);
    expect(scene.agents.last.host.keysPossible()).toBe(false);
    const lines = scene.reports.flatMap((report) => (report.type === 'transcript' ? report.entries : []));
    expect(lines.map(({ user, text }) => `${user}: ${text}`)).toEqual([
      "agent-action: DTMF is unavailable on this call: the peer's SDP has no telephone-event (RFC 4733), and its Allow does not list INFO.",
    ]);
    scene.calls.stop('id-1');
  });

  it('notes nothing about keys when they are possible', async () => {
    await answered();
    expect(scene.agents.last.host.keysPossible()).toBe(true);
    expect(scene.reports.filter(({ type }) => type === 'transcript')).toEqual([]);
  });

  it('continues, and sends its BYE, when reports fail', async () => {
    scene.failReports = true;
    const leg = await answered();
    scene.agents.last.host.hangup('done');
    expect(leg.sent).toEqual(['200', 'BYE (done)']);
    expect(scene.log.lines.filter((line) => line.level === 'error').length).toBeGreaterThan(0);
    expect(scene.calls.size).toBe(0);
  });

  it('writes call_id and trunk_id on every line', async () => {
    const leg = await answered();
    leg.peer.bye();
    expect(scene.log.lines.length).toBeGreaterThan(2);
    for (const line of scene.log.lines)
      expect(line.fields).toMatchObject({ call_id: 'id-1', trunk_id: 'trunk-1' });
  });
});

describe('the calls of an edge', () => {
  it('count against the capacity', async () => {
    await answered();
    expect(scene.calls.closedFor(plan.orgId)).toBeNull();
    await answered(new FakeLeg({ sipCallId: 'call-2@test' }));
    expect(scene.calls.closedFor(plan.orgId)).toBe('capacity');
  });

  it('are reported when they are rejected', () => {
    const leg = new FakeLeg();
    scene.calls.refuse(leg, plan, { code: 'capacity', detail: null });
    expect(leg.sent).toEqual([{ status: 503, retryAfterS: 10, cause: { code: 'capacity', detail: null } }]);
    expect(scene.records).toHaveLength(1);
    expect(last()).toMatchObject({ status: 'failed', sip_code: 503, sip_reason: 'Service Unavailable' });
    expect(scene.calls.size).toBe(0);
  });

  it('drain: the last call to end ends the drain', async () => {
    const leg = await answered();
    let done = false;
    const drained = scene.calls.drain(10_000).then(() => {
      done = true;
    });
    expect(scene.calls.closedFor(plan.orgId)).toBe('draining');
    await settle();
    expect(done).toBe(false);
    leg.peer.bye();
    await drained;
    expect(scene.clock.pending).toBe(0);
  });

  it('out of service: live calls go on, new ones are rejected, until it is back', async () => {
    const leg = await answered();
    expect(scene.calls.setOutOfService(true)).toBe(true);
    expect(scene.calls.setOutOfService(true)).toBe(false);
    expect([scene.calls.draining, scene.calls.closedFor(plan.orgId), scene.calls.size]).toEqual([
      true,
      'draining',
      1,
    ]);
    expect(leg.sent.some((sent) => typeof sent === 'string' && sent.startsWith('BYE'))).toBe(false);
    expect(scene.calls.setOutOfService(false)).toBe(true);
    expect(scene.calls.closedFor(plan.orgId)).toBeNull();
    // The order to stop is not taken back by it.
    const drained = scene.calls.drain(10_000);
    scene.calls.setOutOfService(false);
    expect(scene.calls.draining).toBe(true);
    leg.peer.bye();
    await drained;
  });

  it('drain: the remaining calls are ended after the time-out', async () => {
    const up = await answered();
    scene.agents.ready = false;
    const waiting = new FakeLeg();
    scene.calls.admit(waiting, plan, []);
    await settle();
    const drained = scene.calls.drain(10_000);
    scene.clock.advance(10_000);
    await drained;
    expect(up.sent[1]).toMatch(/^BYE/);
    expect(waiting.sent.at(-1)).toMatchObject({ status: 503, retryAfterS: 10, cause: { code: 'draining' } });
    expect(scene.records.slice(-2).map((record) => record.termination)).toEqual([
      'edge_restarted',
      'draining',
    ]);
    expect(scene.calls.size).toBe(0);
  });

  it('end without a BYE when the engine is lost', async () => {
    const leg = await answered();
    scene.calls.endAll({ code: 'engine_lost', detail: null });
    expect(leg.sent).toEqual(['200']);
    expect(last()).toMatchObject({ termination: 'engine_lost', status: 'completed' });
  });
});
