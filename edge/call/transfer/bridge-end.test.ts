/** Bridging transfers: their limits, the drain of the edge, and every way in which they end. */
import { beforeEach, describe, expect, it } from 'vitest';
import { blind, colleague, refusal, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import type { AgentHost } from '../ports/agents.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

describe('a bridging transfer', () => {
  it('is rejected while another one of the call is under way, and once it is bridged', async () => {
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    expect((await bench.transfer(agent, blind())).outcome).toMatchObject({ code: 'not_active' });
    await bench.targetAnswers();
    expect(() => bench.calls.transfer('id-1', blind())).toThrow('It is bridged with +14155550199.');
    expect(() => bench.calls.transfer('id-3', blind())).toThrow('It is the leg to the target of a transfer.');
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
    ['media_lost', 'media_lost'],
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
