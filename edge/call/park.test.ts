import { beforeEach, describe, expect, it } from 'vitest';
import { blind, FakeRefer, refusal, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import type { ParkOrder } from './ports/park.ts';
import { LegsApart } from './refused.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench();
});

const inSlot = (slot: string, more: Partial<ParkOrder> = {}): ParkOrder => ({
  slot,
  timeoutMs: 60_000,
  atEnd: 'agent',
  ...more,
});

/** Two calls that are up, `id-1` and `id-3`. */
async function two() {
  const one = await bench.callUp();
  const other = await bench.callUp();
  const [, second] = [
    ...new Set(bench.reports.flatMap((body) => (body.type === 'call' ? [body.call.id] : []))),
  ];
  return { one, other, second: second ?? '' };
}

function endAll(): void {
  bench.calls.endAll({ code: 'api_stop', detail: null });
  bench.expectNothingLeft();
}

describe('a parked call', () => {
  it('hears music, and returns to its agent when nobody retrieves it in time', async () => {
    const { agent, media, peer } = await bench.callUp();
    bench.calls.park('id-1', inSlot('7'));
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    expect(media.holding).toBe(true);
    bench.clock.advance(59_999);
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.clock.advance(1);
    expect(media.endpoint).toBe(agent);
    expect(peer.sent).toEqual(['200', 're-INVITE', 're-INVITE']);
    expect(bench.notes).toEqual([
      'The call was parked in slot 7.',
      'Nobody retrieved the call from slot 7 within 60 s.',
      'The call has left slot 7.',
    ]);
    endAll();
  });

  it('ends with park_timeout where that is ordered', async () => {
    await bench.callUp();
    bench.calls.park('id-1', inSlot('7', { atEnd: 'end' }));
    bench.clock.advance(60_000);
    expect(bench.record('id-1')).toMatchObject({ termination: 'park_timeout', hangup_by: 'timeout' });
    bench.expectNothingLeft();
  });

  it('has its slot for itself, and can be parked in another one', async () => {
    const { second } = await two();
    bench.calls.park('id-1', inSlot('7'));
    expect(() => bench.calls.park(second, inSlot('7'))).toThrow('Call id-1 is parked in slot 7.');
    bench.calls.park('id-1', inSlot('8'));
    bench.calls.park(second, inSlot('7'));
    bench.clock.advance(60_000);
    bench.calls.park('id-1', inSlot('7'));
    endAll();
  });

  it('returns to its agent when it is resumed', async () => {
    const { agent, media } = await bench.callUp();
    bench.calls.park('id-1', inSlot('7'));
    bench.calls.hold('id-1', 'resume');
    expect(media.endpoint).toBe(agent);
    bench.clock.advance(59_000);
    expect(bench.notes.at(-1)).toBe('The call has left slot 7.');
    endAll();
  });

  it('leaves the other party of its bridge, whose leg ends; without an agent it ends when its time is over', async () => {
    const { agent, media } = await bench.callUp();
    await bench.transfer(agent, blind());
    const target = await bench.targetAnswers();
    expect(() => bench.calls.park('id-3', inSlot('7'))).toThrow('is the leg of a transfer');
    bench.calls.park('id-1', inSlot('7'));
    expect(target.sent.at(-1)).toMatch(/^BYE/);
    expect(bench.record('id-3')).toMatchObject({ termination: 'bridge_ended' });
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.clock.advance(60_000);
    expect(bench.record('id-1')).toMatchObject({ termination: 'park_timeout' });
    bench.expectNothingLeft();
  });

  it('is in its slot again when the number that is called does not answer, and its time starts again', async () => {
    const { agent, media } = await bench.callUp();
    bench.calls.park('id-1', inSlot('7'));
    await bench.calls.transfer('id-1', blind());
    expect(media.endpoint).toBe(bench.agents.ringback);
    bench.clock.advance(30_000);
    await settle();
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    expect(media.holding).toBe(true);
    bench.clock.advance(59_000);
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.clock.advance(1_000);
    expect(media.endpoint).toBe(agent);
    endAll();
  });

  it('returns to its agent when another call took its slot while the number was called', async () => {
    const { one, second } = await two();
    bench.calls.park('id-1', inSlot('7'));
    await bench.calls.transfer('id-1', blind());
    bench.calls.park(second, inSlot('7'));
    bench.clock.advance(30_000);
    await settle();
    expect(one.media.endpoint).toBe(one.agent);
    expect(one.media.holding).toBe(false);
    endAll();
  });

  /** `id-1`, parked without an agent: it was bridged before. */
  async function withoutAgent() {
    const { agent, media, peer } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    bench.calls.park('id-1', inSlot('7'));
    return { media, peer };
  }

  it('without an agent cannot be resumed, nor given back to it, and stays in its slot', async () => {
    const { media } = await withoutAgent();
    const refused = expect.objectContaining({ code: 'CALL_WITHOUT_AGENT' });
    expect(() => bench.calls.hold('id-1', 'resume')).toThrow(refused);
    await expect(bench.calls.retrieve('id-1', null)).rejects.toEqual(refused);
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.clock.advance(59_999);
    expect(bench.record('id-1')?.ended_at).toBeNull();
    endAll();
  });

  it('without an agent is in its slot again when the number does not answer, or ends when that is taken', async () => {
    const { media } = await withoutAgent();
    await bench.calls.transfer('id-1', blind());
    await settle();
    bench.dialer.last.peer.refused(refusal(486, 'Busy Here'));
    await settle();
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    await bench.calls.transfer('id-1', blind());
    await bench.callUp();
    const other = bench.calls.underWay().oldest.at(-1)?.id ?? '';
    bench.calls.park(other, inSlot('7'));
    bench.dialer.last.peer.refused(refusal(486, 'Busy Here'));
    await settle();
    expect(bench.record('id-1')).toMatchObject({
      termination: 'park_timeout',
      termination_detail: `Slot 7 was taken by call ${other} meanwhile.`,
    });
    endAll();
  });

  it('without an agent rejects a REFER, whose target nobody would speak with', async () => {
    const { peer } = await withoutAgent();
    const refer = new FakeRefer();
    peer.peer.referred(refer);
    expect(refer.said).toEqual(['603 Decline']);
    endAll();
  });

  it('is given back to its agent only when it is parked', async () => {
    await bench.callUp();
    await expect(bench.calls.retrieve('id-1', null)).rejects.toMatchObject({ code: 'CALL_NOT_PARKED' });
    bench.calls.hold('id-1', 'hold');
    await expect(bench.calls.retrieve('id-1', null)).rejects.toMatchObject({ code: 'CALL_NOT_PARKED' });
    bench.calls.park('id-1', inSlot('7'));
    await bench.calls.retrieve('id-1', null);
    endAll();
  });

  it('stays in its slot when no number can be called', async () => {
    const { media } = await bench.callUp();
    bench.routes.hops = null;
    bench.calls.park('id-1', inSlot('7'));
    expect(() => bench.calls.transfer('id-1', blind())).toThrow(
      expect.objectContaining({ code: 'NO_OUTBOUND_ROUTE' }),
    );
    await settle();
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    endAll();
  });

  it('is bridged with a number that is called', async () => {
    const { media } = await bench.callUp();
    bench.calls.park('id-1', inSlot('7'));
    await bench.calls.transfer('id-1', blind());
    expect(media.endpoint).toBe(bench.agents.ringback);
    await settle();
    await bench.targetAnswers();
    expect(bench.media.bridges).toMatchObject([{ closed: 0 }]);
    bench.clock.advance(60_000);
    expect(bench.record('id-1')?.ended_at).toBeNull();
    endAll();
  });
});

describe('a parked call that another one retrieves', () => {
  it.each(['by order of the API', 'by a transfer of its agent to the slot'])(
    'is joined with it, %s',
    async (how) => {
      const { one, other, second } = await two();
      bench.calls.park('id-1', inSlot('7'));
      if (how === 'by order of the API') await bench.calls.retrieve('id-1', second);
      else expect((await bench.transfer(other.agent, blind('park:7'))).outcome).toEqual({ ok: true });
      expect(bench.media.bridges).toMatchObject([
        { legs: [one.media, other.media], options: { transcode: true } },
      ]);
      expect(one.media.holding).toBe(false);
      expect(one.agent.closedFor).toEqual([`The call was joined with call ${second}.`]);
      expect(other.agent.closedFor).toEqual(['The call was joined with call id-1.']);
      expect(bench.record(second)).toMatchObject({ transferred_to: 'park:7' });

      bench.calls.hold('id-1', 'hold');
      expect(other.media.endpoint?.silent).toBe(true);
      bench.calls.hold('id-1', 'resume');
      await settle();
      expect(bench.media.bridges).toHaveLength(2);

      other.peer.peer.bye();
      expect(bench.record(second)).toMatchObject({ termination: 'caller_hangup' });
      expect(bench.record('id-1')).toMatchObject({
        termination: 'bridge_ended',
        termination_detail: 'The other call ended.',
        hangup_by: 'transfer',
      });
      bench.expectNothingLeft();
    },
  );

  it('stays parked when the transfer to its slot orders what only a call to somebody can have', async () => {
    const { other } = await two();
    bench.calls.park('id-1', inSlot('7'));
    const consult = { announcement: 'A call for you.', acceptKey: null };
    for (const more of [{ method: 'refer' as const }, { consult }]) {
      const { outcome } = await bench.transfer(other.agent, { ...blind('park:7'), ...more });
      expect(outcome).toMatchObject({ ok: false, code: 'target_not_allowed' });
    }
    expect(other.media.endpoint).toBe(other.agent);
    endAll();
  });

  it('stays parked when they cannot be joined, and the other one has its agent again', async () => {
    const { one, other, second } = await two();
    bench.calls.park('id-1', inSlot('7'));
    bench.media.refuseBridge = true;
    await expect(bench.calls.retrieve('id-1', second)).rejects.toThrow('no codec');
    expect(one.media.endpoint).toBe(bench.agents.holdMusic);
    expect(other.media.endpoint).toBe(other.agent);
    bench.media.refuseBridge = false;
    await bench.calls.retrieve('id-1', second);
    endAll();
  });

  it('is refused by name where the media of the two is in two shards', async () => {
    const { second } = await two();
    bench.calls.park('id-1', inSlot('7'));
    bench.shard.shard.bridge = () => Promise.reject(new LegsApart());
    await expect(bench.calls.retrieve('id-1', second)).rejects.toMatchObject({ code: 'CALLS_APART' });
    endAll();
  });

  it('can be parked again, which ends the other call', async () => {
    const { second } = await two();
    bench.calls.park('id-1', inSlot('7'));
    await bench.calls.retrieve('id-1', second);
    bench.calls.park('id-1', inSlot('7'));
    expect(bench.record(second)).toMatchObject({
      termination: 'bridge_ended',
      termination_detail: 'The other call was parked.',
    });
    endAll();
  });

  it('must be parked, on this edge, and be another call than the one that retrieves', async () => {
    const { other, second } = await two();
    await expect(bench.calls.retrieve('id-1', second)).rejects.toThrow('not parked');
    bench.calls.park('id-1', inSlot('7'));
    await expect(bench.calls.retrieve('id-1', 'id-1')).rejects.toThrow('cannot retrieve itself');
    await expect(bench.calls.retrieve('id-1', 'elsewhere')).rejects.toThrow('not live on this edge');
    expect((await bench.transfer(other.agent, blind('park:8'))).outcome).toMatchObject({
      ok: false,
      code: 'not_parked',
      reason: 'No call is parked in slot 8.',
    });
    endAll();
  });

  it.each(['id-1', 'second'])('goes when %s ends while they are joined', async (which) => {
    const { second } = await two();
    bench.calls.park('id-1', inSlot('7'));
    const joined = bench.calls.retrieve('id-1', second);
    bench.calls.stop(which === 'id-1' ? 'id-1' : second);
    await joined.catch(() => {});
    endAll();
  });
});
