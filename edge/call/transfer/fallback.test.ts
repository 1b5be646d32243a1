import { beforeEach, describe, expect, it } from 'vitest';
import { settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { echoAgent } from '../../../test/kit/fakes/fake-agents.ts';
import { FakeLeg } from '../../../test/kit/fakes/fake-leg.ts';

const fallback = '+14155550177';
let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
  bench.agents.ready = false;
});

/** A call whose agent cannot be prepared. */
async function withoutAgent(): Promise<FakeLeg> {
  const leg = new FakeLeg();
  bench.calls.admit(
    leg,
    {
      orgId: 'org-1',
      number: '+14155550100',
      trunkId: 'trunk-1',
      agent: { ...echoAgent, fallback_number: fallback },
      variables: {},
    },
    ['PCMU'],
  );
  await settle();
  bench.agents.last.refuse(new Error('socket did not open'));
  await settle();
  return leg;
}

describe('the fallback number', () => {
  it('is called when the agent cannot start; the caller is answered once it has answered', async () => {
    const leg = await withoutAgent();
    expect(bench.dialer.last.invite).toMatchObject({ from: '+14155550100', to: fallback });
    bench.clock.advance(200);
    expect(leg.sent).toEqual(['180']);
    await bench.targetAnswers();
    expect(leg.sent).toEqual(['180', '200']);
    expect(bench.media.bridges).toEqual([]);
    leg.peer.answered();
    leg.peer.acknowledged(null);
    await settle();
    expect(bench.media.bridges).toHaveLength(1);
    expect(bench.record('id-1')).toMatchObject({ status: 'in-progress', transferred_to: fallback });
    leg.peer.bye();
    expect(bench.record('id-1')).toMatchObject({ termination: 'caller_hangup' });
    bench.expectNothingLeft();
  });

  it('is canceled at the end of a drain, and the caller rejected with 503', async () => {
    const leg = await withoutAgent();
    const drained = bench.calls.drain(1000);
    bench.clock.advance(1000);
    await drained;
    expect(leg.sent).toMatchObject(['180', { status: 503, retryAfterS: 10, cause: { code: 'draining' } }]);
    expect(bench.record('id-1')).toMatchObject({ status: 'failed', termination: 'draining' });
    expect(bench.record('id-3')).toMatchObject({ status: 'canceled', termination: 'edge_restarted' });
    bench.expectNothingLeft();
  });

  it('that does not answer leaves the caller rejected with 480', async () => {
    const leg = await withoutAgent();
    bench.dialer.last.peer.progress(180, null);
    bench.clock.advance(30_000);
    await settle();
    expect(leg.sent).toMatchObject(['180', { status: 480, cause: { code: 'agent_unavailable' } }]);
    expect(bench.record('id-1')).toMatchObject({
      termination: 'agent_unavailable',
      termination_detail: `socket did not open Fallback to ${fallback}: Nobody answered within 30 s.`,
    });
    bench.expectNothingLeft();
  });

  it('without a route leaves the caller rejected at once', async () => {
    bench.routes.hops = null;
    const leg = await withoutAgent();
    expect(leg.sent).toMatchObject([{ status: 480, cause: { code: 'agent_unavailable' } }]);
    bench.expectNothingLeft();
  });

  it('is no longer called when the caller cancels', async () => {
    const leg = await withoutAgent();
    leg.peer.canceled();
    await settle();
    expect(bench.dialer.last.sent).toHaveLength(1);
    expect(bench.record('id-1')).toMatchObject({ termination: 'caller_canceled' });
    bench.expectNothingLeft();
  });

  it('ends when the caller never acknowledges the answer', async () => {
    const leg = await withoutAgent();
    const target = await bench.targetAnswers();
    leg.peer.answered();
    leg.peer.lost('ack_timeout', 'no ACK');
    expect(target.sent).toHaveLength(1);
    bench.expectNothingLeft();
  });

  it('that hangs up before the caller is connected ends the call', async () => {
    const leg = await withoutAgent();
    const target = await bench.targetAnswers();
    leg.peer.answered();
    target.peer.bye();
    await settle();
    leg.peer.acknowledged(null);
    expect(leg.sent.at(-1)).toMatch(/^BYE/);
    expect(bench.record('id-1')).toMatchObject({ termination: 'agent_unavailable' });
    bench.expectNothingLeft();
  });
});
