import { beforeEach, describe, expect, it } from 'vitest';
import { blind, colleague, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { hopAt } from '../../../test/kit/fakes/fake-hunt.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
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
    bench.routes.hops = null;
    expect(code(() => bench.calls.transfer('id-1', blind()))).toBe('NO_OUTBOUND_ROUTE');
    bench.routes.hops = [hopAt(5061)];
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
