import { beforeEach, describe, expect, it } from 'vitest';
import { blind, settle, TransferBench } from '../../../test/kit/edge/transfer.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench({}, 20);
});

const room = blind('conference:sales');

const inRoom = () => bench.media.rooms.map((legs) => legs.size);

describe('a conference', () => {
  it('begins with the first call that is transferred to it, and ends with the last', async () => {
    const [one, two, three] = await bench.callsUp(3);
    if (!one || !two || !three) throw new Error('no calls');
    expect((await bench.transfer(one.agent, room)).outcome).toEqual({ ok: true });
    expect(one.media.endpoint).toBe(bench.agents.holdMusic);
    await bench.calls.transfer(two.id, room);
    await bench.calls.transfer(three.id, room);
    expect(inRoom()).toEqual([3]);
    expect([bench.calls.conferences.size, bench.calls.conferences.parties]).toEqual([1, 3]);
    expect(one.agent.closedFor).toEqual(['The call joined the conference sales.']);
    expect(bench.record(one.id)).toMatchObject({ transferred_to: 'conference:sales' });

    one.peer.peer.bye();
    expect(inRoom()).toEqual([2]);
    expect(bench.record(one.id)).toMatchObject({ termination: 'caller_hangup', hangup_by: 'peer' });
    bench.calls.stop(two.id);
    expect(bench.record(three.id)?.ended_at).toBeNull();
    expect(three.media.endpoint).toBe(bench.agents.holdMusic);
    bench.calls.stop(three.id);
    expect(inRoom()).toEqual([0]);
    expect(bench.calls.conferences.size).toBe(0);
    expect(bench.shard.host.size).toBe(0);
    bench.expectNothingLeft();
  });

  it('has eight parties at most; the ninth stays with its agent', async () => {
    const made = await bench.callsUp(9);
    for (const { id } of made.slice(0, 8)) await bench.calls.transfer(id, room);
    const last = made[8];
    if (!last) throw new Error('no call');
    expect((await bench.transfer(last.agent, room)).outcome).toMatchObject({
      ok: false,
      reason: 'The conference sales is full: it has 8 parties.',
    });
    expect(last.media.endpoint).toBe(last.agent);
    expect((await bench.transfer(last.agent, blind('conference:other'))).outcome).toEqual({ ok: true });
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it('is left by a party on hold, which comes back, and by one that is parked', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    for (const { id } of [one, two]) await bench.calls.transfer(id, room);
    bench.calls.hold(one.id, 'hold');
    expect(inRoom()).toEqual([0]);
    for (const { media } of [one, two]) expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.calls.hold(one.id, 'resume');
    expect(inRoom()).toEqual([0, 2]);
    bench.calls.park(one.id, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
    expect(inRoom()).toEqual([0, 0]);
    await bench.calls.retrieve(one.id, two.id).then(
      () => expect.unreachable(),
      (error: unknown) => expect(error).toMatchObject({ code: 'CALL_NOT_ACTIVE' }),
    );
    bench.calls.hold(two.id, 'hold');
    bench.calls.stop(two.id);
    await settle();
    bench.calls.endAll({ code: 'api_stop', detail: null });
    expect(bench.calls.conferences.size).toBe(0);
    bench.expectNothingLeft();
  });

  it('takes no call that is in a conference or being transferred, and says which', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(one.id, room);
    await expect(bench.calls.transfer(one.id, room)).rejects.toMatchObject({
      code: 'CALL_NOT_ACTIVE',
      message: 'The call cannot be transferred: It is in the conference sales.',
    });
    expect(() => bench.calls.transfer(one.id, blind())).toThrow('It is in the conference sales.');
    bench.calls.transfer(two.id, blind());
    await expect(bench.calls.transfer(two.id, room)).rejects.toThrow(
      'Another transfer of it is in progress.',
    );
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it.each(['on hold', 'parked'])('takes a call that is %s, and ends that', async (how) => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(two.id, room);
    if (how === 'on hold') bench.calls.hold(one.id, 'hold');
    else bench.calls.park(one.id, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
    await bench.calls.transfer(one.id, room);
    expect(one.media.holding).toBe(false);
    expect(bench.media.rooms[0]?.size).toBe(2);
    bench.clock.advance(60_000);
    expect(bench.record(one.id)?.ended_at).toBeNull();
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });
});

describe('a party of a conference', () => {
  it('is in the record of its call, with when the conference was opened and the call came, until it leaves', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(one.id, room);
    await bench.clock.advance(2000);
    await bench.calls.transfer(two.id, room);
    const opened = bench.record(one.id)?.conference;
    expect(opened).toMatchObject({ name: 'sales', muted: false, opened_at: opened?.joined_at });
    expect(bench.record(two.id)?.conference).toEqual({
      ...opened,
      joined_at: new Date(Date.parse(opened?.opened_at ?? '') + 2000).toISOString(),
    });
    bench.calls.park(two.id, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
    expect(bench.record(two.id)).not.toHaveProperty('conference');
    bench.calls.stop(one.id);
    expect(bench.record(one.id)).toMatchObject({ termination: 'api_stop' });
    expect(bench.record(one.id)).not.toHaveProperty('conference');
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it('can be muted and heard again; its hold changes nothing about it', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    for (const { id } of [one, two]) await bench.calls.transfer(id, room);
    bench.calls.conferences.control(one.id, 'mute');
    expect([...bench.media.muted]).toEqual([one.media]);
    expect(bench.record(one.id)?.conference).toMatchObject({ muted: true });
    bench.calls.hold(one.id, 'hold');
    expect(bench.media.muted.size).toBe(0);
    bench.calls.hold(one.id, 'resume');
    expect([...bench.media.muted]).toEqual([one.media]);
    bench.calls.hold(one.id, 'hold');
    bench.calls.conferences.control(one.id, 'unmute');
    bench.calls.hold(one.id, 'resume');
    expect(bench.media.muted.size).toBe(0);
    expect(bench.record(one.id)?.conference).toMatchObject({ muted: false });
    expect(bench.notes).toEqual(
      expect.arrayContaining(['The call was muted.', 'The call is no longer muted.']),
    );
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it('can be removed, which ends its call; a call that is in none cannot', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(one.id, room);
    expect(() => bench.calls.conferences.control(two.id, 'remove')).toThrow(
      expect.objectContaining({ code: 'CALL_NOT_IN_CONFERENCE' }),
    );
    bench.calls.conferences.control(one.id, 'remove');
    expect(bench.record(one.id)).toMatchObject({
      termination: 'api_stop',
      termination_detail: 'The call was removed from the conference sales.',
    });
    expect(bench.calls.conferences.size).toBe(0);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });
});

describe('the limits of conferences', () => {
  it.each([
    [
      'mostOfOrganization',
      'The organization has 2 conferences on this edge, which are all that it may have.',
    ],
    ['mostOfEdge', 'The edge has 2 conferences, and opens no more.'],
  ] as const)('%s: a call stays with its agent, and may enter one that is open', async (limit, reason) => {
    const refused: string[] = [];
    const conferenceLimits = { maxParties: 2, mostOfOrganization: 3, mostOfEdge: 3, [limit]: 2 };
    const conferenceRefused = (name: string) => void refused.push(name);
    bench = new TransferBench({}, 20, undefined, { conferenceLimits, conferenceRefused });
    const [one, two, three, four] = await bench.callsUp(4);
    if (!one || !two || !three || !four) throw new Error('no calls');
    await bench.calls.transfer(one.id, blind('conference:one'));
    await bench.calls.transfer(two.id, blind('conference:two'));
    const { outcome } = await bench.transfer(three.agent, blind('conference:three'));
    expect(outcome).toMatchObject({ ok: false, code: 'full', reason });
    expect(three.media.endpoint).toBe(three.agent);
    await bench.calls.transfer(three.id, blind('conference:one'));
    await bench.transfer(four.agent, blind('conference:one'));
    expect(refused).toEqual([limit === 'mostOfEdge' ? 'edge' : 'organization', 'parties']);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });
});

describe('a moderator of a conference', () => {
  const moderator = blind('conference:sales;moderator');

  it('ends it by leaving, when no other moderator is there', async () => {
    const [one, two, three, four] = await bench.callsUp(4);
    if (!one || !two || !three || !four) throw new Error('no calls');
    for (const [{ id }, how] of [
      [one, room],
      [two, moderator],
      [three, moderator],
      [four, room],
    ] as const)
      await bench.calls.transfer(id, how);
    expect(bench.record(one.id)?.conference).toMatchObject({ moderator: false });
    expect(bench.record(two.id)?.conference).toMatchObject({ moderator: true });
    expect(bench.record(two.id)).toMatchObject({ transferred_to: 'conference:sales' });
    bench.calls.stop(two.id);
    expect(bench.calls.conferences.parties).toBe(3);
    bench.calls.hold(three.id, 'hold');
    expect(bench.calls.conferences.parties).toBe(3);
    bench.calls.stop(three.id);
    for (const { id } of [one, four])
      expect(bench.record(id)).toMatchObject({
        termination: 'conference_ended',
        hangup_by: 'transfer',
        status: 'completed',
      });
    expect(bench.calls.conferences.size).toBe(0);
    expect(bench.shard.host.size).toBe(0);
    bench.expectNothingLeft();
  });

  it('ends it when it is parked, and goes on itself', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(one.id, moderator);
    await bench.calls.transfer(two.id, room);
    bench.calls.park(one.id, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
    expect(bench.record(two.id)).toMatchObject({ termination: 'conference_ended' });
    expect(bench.record(one.id)?.ended_at).toBeNull();
    bench.calls.stop(one.id);
    bench.expectNothingLeft();
  });
});

it('a conference has tones for those alone who do not turn them off', async () => {
  const [one, two] = await bench.callsUp(2);
  if (!one || !two) throw new Error('no calls');
  await bench.calls.transfer(one.id, blind('conference:sales;tones=off'));
  await bench.calls.transfer(two.id, room);
  expect(inRoom()).toEqual([2]);
  expect([...bench.media.quiet]).toEqual([one.media]);
  bench.calls.endAll({ code: 'api_stop', detail: null });
  bench.expectNothingLeft();
});

describe('an agent that stays in the conference that its call opens', () => {
  const staying = blind('conference:sales;agent=stay');

  it('is a party until its call leaves', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(one.id, staying);
    expect(one.agent.closedFor).toEqual([]);
    expect(inRoom()).toEqual([1]);
    expect([...bench.media.agentsInRoom]).toEqual([one.agent]);
    await bench.calls.transfer(two.id, staying);
    expect(two.agent.closedFor).toEqual(['The call joined the conference sales.']);
    expect([...bench.media.agentsInRoom]).toEqual([one.agent]);
    bench.calls.hold(one.id, 'hold');
    expect(inRoom()).toEqual([1]);
    expect([...bench.media.agentsInRoom]).toEqual([one.agent]);
    bench.calls.hold(two.id, 'hold');
    expect(bench.media.agentsInRoom.size).toBe(0);
    bench.calls.hold(one.id, 'resume');
    bench.calls.hold(two.id, 'resume');
    expect([...bench.media.agentsInRoom]).toEqual([one.agent]);
    bench.calls.stop(one.id);
    expect(one.agent.closedFor).toHaveLength(1);
    expect(bench.media.agentsInRoom.size).toBe(0);
    expect(two.media.endpoint).toBe(bench.agents.holdMusic);
    bench.calls.stop(two.id);
    expect(bench.shard.host.size).toBe(0);
    bench.expectNothingLeft();
  });

  it('goes on with its call alone after the call was parked', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    await bench.calls.transfer(one.id, staying);
    await bench.calls.transfer(two.id, room);
    bench.calls.park(one.id, { slot: '7', timeoutMs: 60_000, atEnd: 'agent' });
    expect(bench.media.agentsInRoom.size).toBe(0);
    bench.clock.advance(60_000);
    expect(one.media.endpoint).toBe(one.agent);
    expect(one.agent.closedFor).toEqual([]);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it('leaves when it has ordered the transfer itself', async () => {
    const [one] = await bench.callsUp(1);
    if (!one) throw new Error('no call');
    expect((await bench.transfer(one.agent, staying)).outcome).toEqual({ ok: true });
    expect(one.agent.closedFor).toEqual(['The call joined the conference sales.']);
    expect(bench.media.agentsInRoom.size).toBe(0);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });
});

describe('a call that is answered but not up yet', () => {
  it('enters when it is up', async () => {
    const { peer, media } = await bench.answered();
    const entered = bench.calls.transfer('id-1', room);
    expect(bench.calls.conferences.parties).toBe(0);
    await expect(bench.calls.transfer('id-1', room)).rejects.toMatchObject({ code: 'CALL_NOT_ACTIVE' });
    peer.peer.acknowledged(null);
    await entered;
    expect(bench.calls.conferences.parties).toBe(1);
    expect(media.endpoint).toBe(bench.agents.holdMusic);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });

  it('does not when it ends before', async () => {
    await bench.answered();
    const entered = bench.calls.transfer('id-1', room);
    bench.calls.stop('id-1');
    await expect(entered).rejects.toMatchObject({ code: 'CALL_NOT_ACTIVE' });
    expect(bench.calls.conferences.size).toBe(0);
    bench.calls.endAll({ code: 'api_stop', detail: null });
  });
});
