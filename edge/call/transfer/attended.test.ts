/** The peer has two calls with this edge, and joins whom it speaks with in them by a REFER with Replaces. */
import { beforeEach, describe, expect, it } from 'vitest';
import { blind, FakeRefer, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';
import { FakeLeg } from '../../../test/kit/fakes/fake-leg.ts';
import type { DialogLeg } from '../ports/signaling.ts';
import { CallRefused, LegsApart } from '../refused.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench({}, 8);
});

const target = 'sip:edge.example.com';
const joining = () => new FakeRefer(target, 'call-1@test;to-tag=ours;from-tag=theirs');

/** The id of the call whose record came last. */
const newest = () => bench.reports.findLast((body) => body.type === 'call')?.call.id ?? '';

async function withAgent(settings = {}) {
  const call = await bench.callUp(settings);
  return { ...call, id: newest() };
}

/** A call whose agent has bridged it with `leg`, the other end of which has the record `legId`. */
async function bridged(settings = {}) {
  const call = await withAgent(settings);
  await bench.transfer(call.agent, blind());
  const leg = await bench.targetAnswers();
  return { ...call, leg, legId: bench.calls.underWay().oldest.at(-1)?.id ?? '', legMedia: bench.media.last };
}

function endAll(): void {
  bench.calls.endAll({ code: 'api_stop', detail: null });
  bench.expectNothingLeft();
}

/** The media of the calls that are joined. */
const joinedNow = () => bench.media.bridges.filter(({ closed }) => closed === 0).map(({ legs }) => legs);

describe('a REFER that names the other call of its peer', () => {
  it('moves the agent to whom the other call is bridged with; nobody is called', async () => {
    const call = await withAgent();
    call.agent.host.variables({ topic: 'rent' });
    const other = await bridged();
    const placed = bench.dialer.legs.length;
    const refer = joining();
    call.peer.peer.referred(refer, other.peer);
    await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 200 OK']);
    expect(bench.dialer.legs).toHaveLength(placed);
    expect(call.agent).toMatchObject({ started: 1, closedFor: [] });
    expect(other.legMedia.endpoint).toBe(call.agent);
    expect(call.media.endpoint).toBeNull();
    expect(other.peer.sent.at(-1)).toBe('BYE (The peer was transferred.)');
    expect(bench.record(other.id)).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
    call.peer.peer.bye();
    expect(bench.record(call.id)).toMatchObject({
      termination: 'transferred',
      hangup_by: 'transfer',
      transferred_to: target,
    });
    expect(bench.calls.size).toBe(1);
    expect(bench.decided).toEqual(['bridge ok', 'follow ok']);
    call.agent.host.hangup('all said');
    expect(bench.record(other.legId)).toMatchObject({
      parent_id: other.id,
      termination: 'agent_hangup',
      variables: { topic: 'rent' },
    });
    bench.expectNothingLeft();
  });

  it('moves the agent of the other call to whom its own call is bridged with', async () => {
    const own = await bridged();
    const other = await withAgent();
    const refer = joining();
    // From the target of the transfer: the caller stays.
    own.leg.peer.referred(refer, other.peer);
    await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 200 OK']);
    expect(own.media.endpoint).toBe(other.agent);
    expect(bench.record(other.id)).toMatchObject({ termination: 'transferred' });
    bench.clock.advance(2_000);
    expect(own.leg.sent.at(-1)).toBe('BYE (The peer was transferred.)');
    expect(bench.record(own.legId)).toMatchObject({ termination: 'transferred', transferred_to: target });
    expect(bench.record(own.id)?.ended_at).toBeNull();
    own.peer.peer.bye();
    expect(bench.record(own.id)).toMatchObject({ termination: 'caller_hangup' });
    bench.expectNothingLeft();
  });

  it('joins whom both calls are bridged with, and they end together', async () => {
    const own = await bridged();
    const other = await bridged();
    const refer = joining();
    own.leg.peer.referred(refer, other.leg);
    await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 200 OK']);
    expect(joinedNow()).toEqual([[own.media, other.media]]);
    expect(other.leg.sent.at(-1)).toBe('BYE (The peer was transferred.)');
    own.leg.peer.bye();
    for (const id of [own.legId, other.legId])
      expect(bench.record(id)).toMatchObject({ termination: 'transferred' });
    expect(bench.notes).toContain(`Joined with call ${other.id} by the peer of both.`);
    other.peer.peer.bye();
    expect(bench.record(other.id)).toMatchObject({ termination: 'caller_hangup' });
    expect(bench.record(own.id)).toMatchObject({ termination: 'bridge_ended' });
    bench.expectNothingLeft();
  });

  it.each(['own', 'other'] as const)('does so when the peer hangs up its %s call before', async (which) => {
    const own = await bridged();
    const other = await bridged();
    own.leg.peer.referred(joining(), other.leg);
    void { own, other }[which].leg.peer.bye();
    await settle();
    expect(joinedNow()).toEqual([[own.media, other.media]]);
    expect(bench.record({ own, other }[which].legId)).toMatchObject({ termination: 'transferred' });
    endAll();
  });

  it('joins calls that were joined with a parked one, too', async () => {
    const parked = await withAgent();
    bench.calls.park(parked.id, { slot: '7', timeoutMs: 60_000, atEnd: 'agent' });
    const own = await withAgent();
    await bench.calls.retrieve(parked.id, own.id);
    const other = await bridged();
    own.peer.peer.referred(joining(), other.peer);
    await settle();
    expect(joinedNow()).toEqual([[parked.media, other.legMedia]]);
    endAll();
  });

  it('is followed by another one in the calls that are left', async () => {
    const first = await bridged();
    const second = await bridged();
    first.leg.peer.referred(joining(), second.leg);
    await settle();
    const third = await bridged();
    const refer = joining();
    second.peer.peer.referred(refer, third.peer);
    await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 200 OK']);
    expect(joinedNow()).toEqual([[first.media, third.legMedia]]);
    endAll();
  });

  it.each([
    ['of the agent', 1, 10, 20_000],
    ['of the call that was replaced', 10, 1, 60_000],
  ])('does not extend the call beyond the maximum duration %s', async (_whose, first, second, leftMs) => {
    const own = await withAgent({ max_duration: first });
    bench.clock.advance(40_000);
    const other = await bridged({ max_duration: second });
    own.peer.peer.referred(joining(), other.peer);
    await settle();
    own.peer.peer.bye();
    bench.clock.advance(leftMs - 1);
    expect(bench.calls.size).toBe(1);
    bench.clock.advance(1);
    expect(bench.record(other.legId)).toMatchObject({ termination: 'max_duration' });
    bench.expectNothingLeft();
  });

  it('does not extend two calls beyond the maximum duration of those that they were joined with', async () => {
    const own = await bridged({ max_duration: 10 });
    const other = await bridged({ max_duration: 1 });
    own.peer.peer.referred(joining(), other.peer);
    await settle();
    expect(joinedNow()).toEqual([[own.legMedia, other.legMedia]]);
    own.peer.peer.bye();
    bench.clock.advance(60_000);
    expect(bench.record(other.legId)).toMatchObject({ termination: 'max_duration' });
    expect(bench.record(own.legId)).toMatchObject({ termination: 'bridge_ended' });
    bench.expectNothingLeft();
  });
});

describe('a REFER that names a call which cannot be joined', () => {
  type Case = [string, () => Promise<{ from: Pick<FakeLeg, 'peer'>; names: DialogLeg }>, string, string];
  it.each<Case>([
    [
      'with an agent, as its own is',
      async () => ({ from: (await withAgent()).peer, names: (await withAgent()).peer }),
      '603 Decline',
      'Both calls are with agents: nobody would be left.',
    ],
    [
      'that is its own',
      async () => {
        const { peer } = await withAgent();
        return { from: peer, names: peer };
      },
      '603 Decline',
      'The call cannot replace itself.',
    ],
    [
      'that it is joined with',
      async () => {
        const { peer, leg } = await bridged();
        return { from: peer, names: leg };
      },
      '603 Decline',
      'The two calls are joined with each other.',
    ],
    [
      'in a conference',
      async () => {
        const { peer, id } = await withAgent();
        await bench.calls.transfer(id, blind('conference:a'));
        return { from: (await bridged()).peer, names: peer };
      },
      '603 Decline',
      'The call that is to be replaced cannot be transferred: It is in the conference a.',
    ],
    [
      'on hold by us',
      async () => {
        const { peer, legId } = await bridged();
        bench.calls.hold(legId, 'hold');
        return { from: (await withAgent()).peer, names: peer };
      },
      '603 Decline',
      'The call that is to be replaced is on hold by the other side.',
    ],
    [
      'that is being transferred',
      async () => {
        const { peer, agent } = await withAgent();
        await bench.transfer(agent, blind());
        return { from: (await bridged()).peer, names: peer };
      },
      '491 Request Pending',
      'The call that is to be replaced is not up, or is being transferred.',
    ],
    [
      'that another dialog is taking over',
      async () => {
        const { peer } = await withAgent();
        peer.peer.replacedBy(new FakeLeg({ sipCallId: 'new@test' }));
        return { from: (await bridged()).peer, names: peer };
      },
      '491 Request Pending',
      'The call that is to be replaced is not up, or is being transferred.',
    ],
  ])('%s is rejected, and says why', async (_what, make, status, why) => {
    const { from, names } = await make();
    const refer = joining();
    const { size } = bench.calls;
    from.peer.referred(refer, names);
    await settle();
    expect(refer).toMatchObject({ said: [status], why });
    expect(bench.calls.size).toBe(size);
    expect(bench.decided.at(-1)).toBe('follow target_not_allowed');
    endAll();
  });

  it('of another organization, or of nobody, is one that this edge does not have', async () => {
    const call = await withAgent();
    const stranger = await withAgent();
    const { plan } = bench.calls.find(stranger.id) ?? {};
    Object.assign(plan ?? {}, { orgId: 'org-2' });
    bench.routes.referForbidden = 'It has no such call.';
    for (const replaced of [stranger.peer, null]) {
      const refer = joining();
      call.peer.peer.referred(refer, replaced);
      await settle();
      expect(refer).toMatchObject({ said: ['403 Forbidden'], why: 'It has no such call.' });
    }
    expect(bench.routes.joins).toEqual([false, false]);
    endAll();
  });
});

describe('when the calls cannot be joined after all', () => {
  it.each([
    ['the bridge is refused', () => Promise.reject(new CallRefused(488, 'no common codec'))],
    ['they are in two places', () => Promise.reject(new LegsApart())],
  ])('because %s, the peer learns it, and speaks with both again', async (_why, hinders) => {
    const own = await bridged();
    const other = await bridged();
    const { bridge } = bench.shard.shard;
    bench.shard.shard.bridge = hinders;
    const refer = joining();
    own.leg.peer.referred(refer, other.leg);
    bench.shard.shard.bridge = bridge;
    for (let turn = 0; turn < 3; turn++) await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 503 Service Unavailable']);
    expect(bench.decided.at(-1)).toMatch(/^follow (target_failed|apart)$/);
    expect(joinedNow()).toEqual([
      [own.media, own.legMedia],
      [other.media, other.legMedia],
    ]);
    own.leg.peer.bye();
    expect(bench.record(own.id)).toMatchObject({ termination: 'bridge_ended' });
    expect(bench.record(other.id)?.ended_at).toBeNull();
    endAll();
  });

  it('because one of them ends meanwhile, the other one goes on', async () => {
    const own = await bridged();
    const other = await bridged();
    const refer = joining();
    own.leg.peer.referred(refer, other.leg);
    bench.calls.stop(own.id);
    for (let turn = 0; turn < 3; turn++) await settle();
    expect(bench.record(own.legId)?.ended_at).not.toBeNull();
    expect(joinedNow()).toEqual([[other.media, other.legMedia]]);
    endAll();
  });

  it('because one of them is put on hold meanwhile, that stays, and the others speak again', async () => {
    const own = await bridged();
    const other = await bridged();
    const refer = joining();
    own.leg.peer.referred(refer, other.leg);
    bench.calls.hold(own.id, 'hold');
    for (let turn = 0; turn < 3; turn++) await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 503 Service Unavailable']);
    expect(own.media.endpoint).toBe(bench.agents.holdMusic);
    expect(joinedNow()).toEqual([[other.media, other.legMedia]]);
    bench.calls.hold(own.id, 'resume');
    for (let turn = 0; turn < 3; turn++) await settle();
    expect(joinedNow()).toContainEqual([own.media, own.legMedia]);
    endAll();
  });

  it('because the agent is in another place than the call, it stays where it was', async () => {
    const call = await withAgent();
    const other = await bridged();
    const attach = other.legMedia.attach.bind(other.legMedia);
    const leg = bench.calls.find(other.legId)?.media;
    if (!leg) throw new Error('the leg has no media');
    leg.attach = (endpoint) => {
      if (endpoint === bench.calls.find(call.id)?.agent.endpoint) throw new LegsApart();
      attach(endpoint);
    };
    const refer = joining();
    call.peer.peer.referred(refer, other.peer);
    for (let turn = 0; turn < 3; turn++) await settle();
    expect(refer.said).toEqual(['202', 'NOTIFY 503 Service Unavailable']);
    expect(call.media.endpoint).toBe(call.agent);
    expect(joinedNow()).toEqual([[other.media, other.legMedia]]);
    endAll();
  });
});
