import { beforeEach, describe, expect, it } from 'vitest';
import { FakeRefer, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

describe('a REFER from the peer', () => {
  it('is followed: the target is called, and the agent continues with it', async () => {
    const { peer, agent, media } = await bench.callUp();
    agent.host.variables({ topic: 'rent' });
    const refer = new FakeRefer('sip:201@pbx.example.com', 'abc@pbx;to-tag=1;from-tag=2');
    peer.peer.referred(refer);
    await settle();
    expect(bench.dialer.last.invite).toMatchObject({
      to: 'sip:201@pbx.example.com',
      replaces: 'abc@pbx;to-tag=1;from-tag=2',
      referredBy: '<sip:caller@192.0.2.1>',
    });
    bench.dialer.last.peer.progress(180, null);
    await bench.targetAnswers();
    expect(refer.said).toEqual(['202', 'NOTIFY 180 Ringing', 'NOTIFY 200 OK']);
    expect(media.endpoint).toBeNull();
    expect(bench.media.last.endpoint).toBe(agent);
    expect(agent).toMatchObject({ started: 1, closedFor: [] });
    agent.host.transcript({
      id: 't-1',
      at: '2030-01-01T00:00:00.000Z',
      user: 'assistant',
      text: 'Hello again',
      node_id: null,
      node_name: null,
    });
    expect(bench.reports.at(-1)).toMatchObject({ type: 'transcript', call_id: 'id-3' });
    peer.peer.bye();
    expect(bench.record('id-1')).toMatchObject({
      termination: 'transferred',
      hangup_by: 'transfer',
      transferred_to: 'sip:201@pbx.example.com',
    });
    agent.host.hangup('all said');
    expect(bench.record('id-3')).toMatchObject({
      parent_id: 'id-1',
      termination: 'agent_hangup',
      agent_kind: 'echo',
      variables: { topic: 'rent' },
    });
    bench.expectNothingLeft();
  });

  it('ends the call of a peer that does not hang up itself', async () => {
    const { peer } = await bench.callUp();
    peer.peer.referred(new FakeRefer());
    await settle();
    await bench.targetAnswers();
    bench.clock.advance(2000);
    expect(peer.sent.at(-1)).toBe('BYE (The peer was transferred.)');
    expect(bench.record('id-1')).toMatchObject({ termination: 'transferred' });
    bench.calls.stop('id-3');
    bench.expectNothingLeft();
  });

  it('has transferred the peer that no longer knows the call when the last NOTIFY comes', async () => {
    const { peer } = await bench.callUp();
    peer.peer.referred(new FakeRefer());
    await settle();
    peer.peer.lost('peer_gone', 'It answered NOTIFY with 481.');
    expect(bench.record('id-1')).toMatchObject({ termination: 'peer_gone' });
    const later = await bench.callUp();
    later.peer.peer.referred(new FakeRefer());
    await settle();
    await bench.targetAnswers();
    later.peer.peer.lost('peer_gone', 'It answered NOTIFY with 481.');
    const ended = bench.reports.flatMap((body) => (body.type === 'call' ? [body.call] : []));
    expect(ended.at(-1)).toMatchObject({ termination: 'transferred', direction: 'inbound' });
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it('fails when its subscription expires: the agent keeps the peer, and the target leg ends', async () => {
    const { peer, agent } = await bench.callUp();
    const refer = new FakeRefer();
    peer.peer.referred(refer);
    await settle();
    bench.dialer.last.peer.progress(180, null);
    refer.expire();
    expect(bench.dialer.last.sent).toEqual([expect.stringMatching(/^CANCEL/)]);
    expect(bench.record('id-1')).toMatchObject({ status: 'in-progress' });
    expect(bench.decided).toEqual(['follow target_failed']);
    expect(agent.closedFor).toEqual([]);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is completed when the peer hangs up before the target has answered', async () => {
    const { peer, agent } = await bench.callUp();
    const refer = new FakeRefer();
    peer.peer.referred(refer);
    await settle();
    peer.peer.bye();
    expect(bench.record('id-1')).toMatchObject({ termination: 'transferred' });
    expect(bench.dialer.last.sent).toEqual([]);
    await bench.targetAnswers();
    expect(bench.media.last.endpoint).toBe(agent);
    expect(agent.started).toBe(1);
    bench.dialer.last.peer.bye();
    expect(agent.closedFor).toEqual(['The callee hung up.']);
    bench.expectNothingLeft();
  });

  it('leaves nothing behind when the peer is gone and the target does not answer', async () => {
    const { peer, agent } = await bench.callUp();
    peer.peer.referred(new FakeRefer());
    await settle();
    bench.dialer.last.peer.progress(180, null);
    peer.peer.bye();
    bench.clock.advance(30_000);
    expect(agent.closedFor).toHaveLength(1);
    bench.expectNothingLeft();
  });

  it('reports a failure to the peer, and the call continues', async () => {
    const { peer, agent, media } = await bench.callUp();
    const refer = new FakeRefer();
    peer.peer.referred(refer);
    await settle();
    bench.dialer.last.peer.refused({
      status: 486,
      reason: 'Busy Here',
      warning: null,
      retryAfterS: null,
      authenticated: false,
    });
    await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 486 Busy Here']);
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is aborted when the call ends', async () => {
    const { peer } = await bench.callUp();
    peer.peer.referred(new FakeRefer());
    await settle();
    bench.calls.stop('id-1');
    expect(bench.dialer.last.sent).toHaveLength(1);
    bench.expectNothingLeft();
  });

  it('does not extend the call beyond its maximum duration', async () => {
    const { peer } = await bench.callUp({ max_duration: 1 });
    bench.clock.advance(40_000);
    peer.peer.referred(new FakeRefer());
    await settle();
    await bench.targetAnswers();
    peer.peer.bye();
    bench.clock.advance(19_999);
    expect(bench.calls.size).toBe(1);
    bench.clock.advance(1);
    expect(bench.record('id-3')).toMatchObject({ termination: 'max_duration' });
    bench.expectNothingLeft();
  });

  it('is rejected for a target that its configuration does not reach', async () => {
    const { peer, agent, media } = await bench.callUp();
    bench.routes.referForbidden = 'The target is elsewhere.';
    const refer = new FakeRefer('sip:0900123@elsewhere.example.com');
    peer.peer.referred(refer);
    await settle();
    expect(refer).toMatchObject({ said: ['403 Forbidden'], why: 'The target is elsewhere.' });
    expect(bench.notes).toEqual([
      'The peer asked to be transferred to sip:0900123@elsewhere.example.com, which was rejected: The target is elsewhere.',
    ]);
    expect(bench.decided).toEqual(['follow target_not_allowed']);
    expect(bench.dialer.legs).toEqual([]);
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is rejected when disabled in the settings', async () => {
    bench = new TransferBench({ followRefer: false });
    const { peer } = await bench.callUp();
    const refer = new FakeRefer();
    peer.peer.referred(refer);
    expect(refer.said).toEqual(['403 Forbidden']);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is rejected during a transfer, and from either of two bridged peers', async () => {
    const { peer, agent } = await bench.callUp();
    const order = { target: '+14155550199', method: 'bridge' as const, consult: null };
    await bench.transfer(agent, order);
    const early = new FakeRefer();
    peer.peer.referred(early);
    expect(early.said).toEqual(['491 Request Pending']);
    await bench.targetAnswers();
    const late = new FakeRefer();
    peer.peer.referred(late);
    bench.dialer.last.peer.referred(late);
    expect(late.said).toEqual(['603 Decline', '603 Decline']);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('can be followed by another one from the target', async () => {
    const { peer, agent } = await bench.callUp();
    peer.peer.referred(new FakeRefer());
    await settle();
    const first = await bench.targetAnswers();
    peer.peer.bye();
    first.peer.referred(new FakeRefer('sip:202@pbx.example.com'));
    await settle();
    await bench.targetAnswers();
    expect(bench.media.last.endpoint).toBe(agent);
    first.peer.bye();
    bench.dialer.last.peer.bye();
    bench.expectNothingLeft();
  });
});
