import { beforeEach, describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { blind, colleague, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { placeAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import type { AgentHost } from '../ports/agents.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

const refusal = (status: number, reason: string) => ({
  status,
  reason,
  warning: null,
  retryAfterS: null,
  authenticated: false,
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
    bench.routes.places = [placeAt(5061), placeAt(5062)];
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
    bench.routes.places = null;
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

  it('is rejected while another one of the call is under way, and once it is bridged', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    expect((await bench.transfer(agent, blind())).outcome).toMatchObject({ code: 'not_active' });
    await bench.targetAnswers();
    expect(() => bench.calls.transfer('id-1', blind())).toThrow(/in progress/);
    expect(() => bench.calls.transfer('id-3', blind())).toThrow(/in progress/);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('counts against the call limit of the edge', async () => {
    bench = new TransferBench({}, 1);
    const { agent } = await bench.callUp();
    const result = await bench.transfer(agent, blind());
    expect(result.outcome).toMatchObject({
      code: 'target_failed',
      reason: expect.stringContaining('call limit'),
    });
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('may start while the edge drains, and ends with it', async () => {
    const { agent } = await bench.callUp();
    const drained = bench.calls.drain(1000);
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    expect(bench.media.bridges).toHaveLength(1);
    bench.clock.advance(1000);
    await drained;
    for (const id of ['id-1', 'id-3']) {
      expect(bench.record(id)).toMatchObject({
        status: 'completed',
        termination: 'edge_restarted',
        termination_detail: 'The edge was stopped while the call was up.',
        hangup_by: 'error',
      });
    }
    bench.expectNothingLeft();
  });

  it('delays the end of the drain until its call ends', async () => {
    const { peer, agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    let over = false;
    const drained = bench.calls.drain(60_000).then(() => {
      over = true;
    });
    bench.clock.advance(59_999);
    await settle();
    expect(over).toBe(false);
    peer.peer.bye();
    await drained;
    expect(bench.record('id-1')).toMatchObject({ termination: 'caller_hangup' });
    expect(bench.record('id-3')).toMatchObject({ termination: 'bridge_ended' });
    bench.expectNothingLeft();
  });

  it('cancels a target that still rings at the end of the drain, with the same reason', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    bench.calls.endRemaining('The edge was stopped at once.');
    expect(bench.dialer.last.sent).toEqual(['CANCEL (The edge was stopped at once.)']);
    expect(bench.record('id-1')).toMatchObject({ status: 'completed', termination: 'edge_restarted' });
    expect(bench.record('id-3')).toMatchObject({ status: 'canceled', termination: 'edge_restarted' });
    bench.expectNothingLeft();
  });

  it('sends no BYE when both dialogs were lost with the engine, and records it on both legs', async () => {
    const { peer, agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    const before = peer.sent.length;
    bench.calls.endAll({ code: 'engine_lost', detail: null });
    expect([peer.sent.length, target.sent]).toEqual([before, []]);
    for (const id of ['id-1', 'id-3']) expect(bench.record(id)).toMatchObject({ termination: 'engine_lost' });
    bench.expectNothingLeft();
  });

  it('ends with its target leg when the API ends that one, and records it', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    bench.calls.stop('id-3');
    expect(bench.record('id-3')).toMatchObject({ termination: 'api_stop' });
    expect(bench.record('id-1')).toMatchObject({
      termination: 'bridge_ended',
      termination_detail:
        'The leg to the target of the transfer ended: The call was stopped through the API.',
    });
    bench.expectNothingLeft();
  });

  const both = [
    ['edge_restarted', 'edge_restarted'],
    ['engine_lost', 'engine_lost'],
    ['bridge_failed', 'bridge_failed'],
    ['internal_error', 'internal_error'],
    // The leg whose dialog still exists in the engine gets a BYE.
    ['dialog_lost', 'internal_error'],
  ] as const;

  describe.each(['id-1', 'id-3'] as const)('when a failure of the edge ends %s', (failed) => {
    const other = failed === 'id-1' ? 'id-3' : 'id-1';
    it.each(both)('(%s) the record of the other leg says %s', async (code, ofOther) => {
      const { agent, peer } = await bench.callUp();
      await bench.transfer(agent, blind());
      const target = await bench.targetAnswers();
      bench.calls.find(failed)?.end({ code, detail: null });
      expect(bench.record(failed)).toMatchObject({ termination: code, hangup_by: 'error' });
      expect(bench.record(other)).toMatchObject({ termination: ofOther, hangup_by: 'error' });
      if (code === 'dialog_lost') expect((failed === 'id-1' ? target : peer).sent.at(-1)).toMatch(/^BYE /);
      bench.expectNothingLeft();
    });
  });

  it("lasts no longer than the call's maximum duration", async () => {
    const { agent } = await bench.callUp({ max_duration: 1 });
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    bench.clock.advance(60_000);
    expect(bench.record('id-1')).toMatchObject({ termination: 'max_duration' });
    expect(bench.record('id-3')).toMatchObject({ termination: 'bridge_ended' });
    bench.expectNothingLeft();
  });

  it('keeps watching both peers for silence', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    bench.media.last.silentMs = 60_000;
    bench.clock.advance(60_000);
    expect(bench.record('id-3')).toMatchObject({ termination: 'media_timeout' });
    expect(bench.record('id-1')).toMatchObject({ termination: 'bridge_ended' });
    bench.expectNothingLeft();
  });

  it('continues through hold and resume of the peer', async () => {
    const { peer, agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    await peer.peer.reanswer(fakeAnswer.replace('a=sendrecv', 'a=sendonly'));
    await bench.targetAnswers();
    expect(bench.media.bridges).toHaveLength(1);
    await peer.peer.reanswer(fakeAnswer);
    expect(bench.calls.find('id-1')?.state).toBe('up');
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('of an outbound call works the same way', async () => {
    const { peer, agent } = await bench.placedUp();
    const result = await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    expect(result.outcome).toEqual({ ok: true });
    target.peer.bye();
    expect(peer.sent).toEqual(['BYE (The target of the transfer hung up.)']);
    bench.expectNothingLeft();
  });

  it('continues when its agent ends during it', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    agent.host.hangup('my part is over');
    await bench.targetAnswers();
    expect(bench.record('id-1')).toMatchObject({ status: 'in-progress', transferred_to: colleague });
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it.each([
    ['hangs up', 'agent_hangup', (host: AgentHost) => host.hangup('my part is over')],
    ['fails', 'agent_failed', (host: AgentHost) => host.fail(new Error('socket lost'))],
  ])('that fails after its agent %s ends the call', async (_what, termination, leave) => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    leave(agent.host);
    expect(bench.calls.size).toBe(2);
    bench.dialer.last.peer.refused(refusal(486, 'Busy Here'));
    await settle();
    expect(bench.record('id-1')).toMatchObject({ termination });
    bench.expectNothingLeft();
  });
});

describe('the codecs of a bridge', () => {
  it("are those of the configuration, the call's codec first, when transcoding is allowed", async () => {
    bench.routes.places = [placeAt(5061, { route: { ...route, codecs: ['PCMA', 'PCMU'], transcode: true } })];
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    expect(bench.media.last.options.codecs).toEqual(['PCMU', 'PCMA']);
    await bench.targetAnswers();
    expect(bench.media.bridges).toMatchObject([{ options: { transcode: true } }]);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it("fail with 488 when the configuration lacks the call's codec and may not transcode", async () => {
    bench.routes.places = [placeAt(5061, { route: { ...route, codecs: ['PCMA'] } })];
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

describe('a warm transfer', () => {
  const warm = { ...blind(), consult: { announcement: 'Mrs. Lee is calling', acceptKey: '1' } };

  it('starts its own agent with the target, and bridges when the target accepts', async () => {
    const { agent, media } = await bench.callUp({ voice: 'kal', language: 'de-DE' });
    const result = await bench.transfer(agent, warm);
    await bench.targetAnswers();
    const consult = bench.agents.last;
    expect(bench.agents.consults).toEqual([warm.consult]);
    expect(bench.agents.manners).toMatchObject([{ voice: 'kal', language: 'de-DE' }]);
    expect(consult.started).toBe(1);
    expect(bench.media.last.endpoint).toBe(consult);
    expect(media.endpoint).toBe(bench.agents.ringback);
    expect(result.outcome).toBeNull();
    consult.host.join();
    await settle();
    expect(result.outcome).toEqual({ ok: true });
    expect(bench.media.bridges).toHaveLength(1);
    expect(bench.media.last.endpoint).toBeNull();
    consult.host.join();
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is declined by a target that does not accept the call, or hangs up', async () => {
    const { agent, media } = await bench.callUp();
    const first = await bench.transfer(agent, warm);
    await bench.targetAnswers();
    bench.agents.last.host.hangup('no key was pressed');
    await settle();
    expect(first.outcome).toEqual({
      ok: false,
      code: 'declined',
      sipCode: null,
      reason: 'no key was pressed',
    });
    expect(media.endpoint).toBe(agent);
    const second = await bench.transfer(agent, warm);
    (await bench.targetAnswers()).peer.bye();
    await settle();
    expect(second.outcome).toMatchObject({ code: 'declined' });
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('fails when the announcement cannot be synthesized', async () => {
    const { agent, media } = await bench.callUp();
    bench.agents.ready = false;
    const result = await bench.transfer(agent, warm);
    bench.agents.last.refuse(new Error('no voice'));
    await settle();
    expect(result.outcome).toMatchObject({ code: 'target_failed', reason: 'no voice' });
    expect(media.endpoint).toBe(agent);
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });
});

describe('a transfer through the API', () => {
  it('starts at once and is reported with the call', async () => {
    await bench.callUp();
    bench.calls.transfer('id-1', blind());
    await settle();
    await bench.targetAnswers();
    expect(bench.record('id-1')).toMatchObject({ transferred_to: colleague });
    bench.calls.stop('id-1');
    bench.expectNothingLeft();
  });

  it('is rejected with the code of the reason', async () => {
    const code = (begin: () => void) => {
      try {
        begin();
      } catch (error) {
        return (error as { code?: string }).code;
      }
      return 'begun';
    };
    const { peer } = await bench.callUp();
    expect(code(() => bench.calls.transfer('nowhere', blind()))).toBe('CALL_NOT_ACTIVE');
    bench.routes.places = null;
    expect(code(() => bench.calls.transfer('id-1', blind()))).toBe('NO_OUTBOUND_ROUTE');
    bench.routes.places = [placeAt(5061)];
    bench.routes.forbidden = 'private';
    expect(code(() => bench.calls.transfer('id-1', blind()))).toBe('TARGET_NOT_ALLOWED');
    peer.takesRefer = false;
    expect(code(() => bench.calls.transfer('id-1', { ...blind(), method: 'refer' }))).toBe(
      'REFER_NOT_SUPPORTED',
    );
    bench.calls.stop('id-1');
    expect(code(() => bench.calls.transfer('id-1', blind()))).toBe('CALL_NOT_ACTIVE');
    bench.expectNothingLeft();
  });
});
