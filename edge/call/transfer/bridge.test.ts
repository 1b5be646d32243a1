import { beforeEach, describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { blind, colleague, refusal, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { hopAt, route } from '../../../test/kit/fakes/fake-hunt.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

describe('a bridging transfer', () => {
  it('calls the target over the configuration of the call while the peer hears the waiting tone', async () => {
    const { agent, media } = await bench.callUp();
    agent.host.variables({ topic: 'rent' });
    const result = await bench.transfer(agent, blind());
    expect(media.endpoint).toBe(bench.agents.ringback);
    expect(bench.routes.last).toMatchObject({ to: colleague, trunkId: 'trunk-1' });
    expect(bench.dialer.last.invite).toMatchObject({
      from: '+14155550100',
      to: colleague,
      variables: { customer: '42', topic: 'rent' },
      replaces: null,
    });
    expect(bench.media.last.options).toMatchObject({ codecs: ['PCMU'], beside: media });
    expect(bench.record('id-3')).toMatchObject({
      parent_id: 'id-1',
      direction: 'outbound',
      to: colleague,
      agent_kind: null,
    });
    expect(result.outcome).toBeNull();
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('bridges both when the target answers, and closes the agent', async () => {
    const { agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    await bench.targetAnswers();
    expect(result.outcome).toEqual({ ok: true });
    expect(bench.media.bridges).toMatchObject([
      { legs: [media, bench.media.last], options: { transcode: false } },
    ]);
    expect(media.endpoint).toBeNull();
    // The target hears one stream from its beginning: that of the bridge.
    expect(new Set(bench.media.last.attached)).toEqual(new Set([null]));
    expect(agent.closedFor).toEqual([`The call was transferred to ${colleague}.`]);
    expect(bench.record('id-1')).toMatchObject({ status: 'in-progress', transferred_to: colleague });
    expect(bench.notes).toEqual([
      `Transferring the call to ${colleague}.`,
      `Transferred the call to ${colleague}.`,
    ]);
    expect(bench.decided).toEqual(['bridge ok']);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('ends the leg of the target when the peer hangs up', async () => {
    const { peer, agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    peer.peer.bye();
    expect(target.sent).toEqual(['BYE (The transferred call that this leg belonged to ended.)']);
    expect(bench.record('id-1')).toMatchObject({ termination: 'caller_hangup', hangup_by: 'peer' });
    expect(bench.record('id-3')).toMatchObject({
      status: 'completed',
      termination: 'bridge_ended',
      hangup_by: 'transfer',
    });
    bench.expectNothingLeft();
  });

  it('ends the call when the target hangs up', async () => {
    const { peer, agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    target.peer.bye();
    expect(peer.sent.at(-1)).toBe('BYE (The target of the transfer hung up.)');
    expect(bench.record('id-1')).toMatchObject({ termination: 'bridge_ended', hangup_by: 'transfer' });
    expect(bench.record('id-3')).toMatchObject({ termination: 'callee_hangup', hangup_by: 'peer' });
    bench.expectNothingLeft();
  });

  it('ends both when the legs can no longer be bridged', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    bench.media.bridges[0]?.fail();
    for (const id of ['id-1', 'id-3'])
      expect(bench.record(id)).toMatchObject({ termination: 'bridge_failed', hangup_by: 'error' });
    bench.expectNothingLeft();
  });

  it.each([
    [486, 'Busy Here', '+14155550199 is busy (486 Busy Here).'],
    [603, 'Decline', '+14155550199 declined the call (603 Decline).'],
    [
      480,
      'Temporarily Unavailable',
      '+14155550199 is temporarily unavailable, or did not answer (480 Temporarily Unavailable).',
    ],
  ])('returns the call to its agent when the target answers %i', async (status, phrase, reason) => {
    const { agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    bench.dialer.last.peer.refused(refusal(status, phrase));
    await settle();
    expect(result.outcome).toEqual({ ok: false, code: 'target_failed', sipCode: status, reason });
    expect(media.endpoint).toBe(agent);
    expect(agent).toMatchObject({ started: 1, closedFor: [] });
    expect(bench.notes.at(-1)).toBe(`The transfer to ${colleague} failed: ${reason}`);
    expect(bench.record('id-1')).toMatchObject({ status: 'in-progress' });
    expect(bench.record('id-1')).not.toHaveProperty('transferred_to');
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('returns the call when nobody answers in time, and can be retried', async () => {
    const { agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    bench.dialer.last.peer.progress(180, null);
    bench.clock.advance(30_000);
    await settle();
    expect(bench.dialer.last.sent).toEqual(['CANCEL (Nobody answered within 30 s.)']);
    expect(result.outcome).toMatchObject({ code: 'target_failed', sipCode: null });
    expect(media.endpoint).toBe(agent);
    const again = await bench.transfer(agent, blind());
    await bench.targetAnswers();
    expect(again.outcome).toEqual({ ok: true });
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('fails over between endpoints like any call', async () => {
    bench.routes.hops = [hopAt(5061), hopAt(5062)];
    const { agent } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    bench.dialer.last.peer.unreachable(connectionFailure('refused', 'connection refused'));
    await settle();
    await bench.targetAnswers();
    expect(bench.dialer.legs).toHaveLength(2);
    expect(result.outcome).toEqual({ ok: true });
    expect(bench.record('id-3')?.failover_attempts).toHaveLength(1);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('cancels the target when the peer hangs up first', async () => {
    const { peer, agent } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    peer.peer.bye();
    await settle();
    expect(bench.dialer.last.sent).toEqual(['CANCEL (The call is over.)']);
    expect(bench.record('id-3')).toMatchObject({ status: 'canceled', termination: 'bridge_ended' });
    expect(result.outcome).toMatchObject({ ok: false, code: 'not_active' });
    bench.expectNothingLeft();
  });

  it('fails at once without a route to the target', async () => {
    const { agent, media } = await bench.callUp();
    bench.routes.hops = null;
    const result = await bench.transfer(agent, blind());
    expect(result.outcome).toMatchObject({ ok: false, code: 'no_route' });
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('fails when the target is forbidden', async () => {
    const { agent } = await bench.callUp();
    bench.routes.forbidden = '10.0.0.1 is a private address';
    const result = await bench.transfer(agent, blind('sip:root@10.0.0.1'));
    expect(result.outcome).toEqual({
      ok: false,
      code: 'target_not_allowed',
      sipCode: null,
      reason: '10.0.0.1 is a private address',
    });
    expect(bench.dialer.legs).toEqual([]);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});

describe('the codecs of a bridge', () => {
  it("are those of the configuration, the call's codec first, when transcoding is allowed", async () => {
    bench.routes.hops = [hopAt(5061, { route: { ...route, codecs: ['PCMA', 'PCMU'], transcode: true } })];
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    expect(bench.media.last.options.codecs).toEqual(['PCMU', 'PCMA']);
    await bench.targetAnswers();
    expect(bench.media.bridges).toMatchObject([{ options: { transcode: true } }]);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it("fail with 488 when the configuration lacks the call's codec and may not transcode", async () => {
    bench.routes.hops = [hopAt(5061, { route: { ...route, codecs: ['PCMA'] } })];
    const { agent, media } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    expect(result.outcome).toMatchObject({ code: 'target_failed', sipCode: 488 });
    expect(bench.dialer.legs).toEqual([]);
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('fail when the legs end up with none in common', async () => {
    const { agent, media } = await bench.callUp();
    bench.media.refuseBridge = true;
    const result = await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    expect(result.outcome).toMatchObject({ code: 'target_failed', sipCode: 488 });
    expect(target.sent).toEqual(['BYE (The legs have no codec in common)']);
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});
