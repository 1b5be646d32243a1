/** What a conference hears of its room: who speaks, and that it is broken. */
import { beforeEach, describe, expect, it } from 'vitest';
import { blind, TransferBench } from '../../../test/kit/edge/transfer.ts';

let bench: TransferBench;

beforeEach(() => {
  bench = new TransferBench({}, 20);
});

const room = blind('conference:sales');

describe('who speaks in a conference', () => {
  /** What the records of a call say, one after the other. */
  const told = (id: string) =>
    bench.reports.flatMap((body) =>
      body.type === 'call' && body.call.id === id && body.call.conference_event
        ? [body.call.conference_event.what]
        : [],
    );

  it('is in the records, and an event tells of each change of the speaker', async () => {
    const [one, two] = await bench.callsUp(2);
    if (!one || !two) throw new Error('no calls');
    for (const { id } of [one, two]) await bench.calls.transfer(id, room);
    const { heard } = bench.media;
    heard(one.media, true);
    expect(bench.record(one.id)?.conference).toMatchObject({ speaking: true });
    heard(one.media, false);
    expect(bench.record(one.id)?.conference).toMatchObject({ speaking: false });
    heard(one.media, true);
    heard(two.media, true);
    heard(one.media, false);
    heard(one.media, true);
    expect(told(one.id)).toEqual(['joined', 'speaking', 'speaking']);
    expect(told(two.id)).toEqual(['joined', 'speaking']);
    bench.calls.conferences.control(one.id, 'mute');
    expect(bench.record(one.id)?.conference).toMatchObject({ speaking: false });
    // Muted for so short a time that the room has noticed no pause.
    bench.calls.conferences.control(one.id, 'unmute');
    expect(bench.record(one.id)?.conference).toMatchObject({ speaking: true });
    bench.calls.conferences.control(one.id, 'mute');
    heard(one.media, false);
    bench.calls.conferences.control(one.id, 'unmute');
    expect(bench.record(one.id)?.conference).toMatchObject({ speaking: false });
    bench.calls.hold(two.id, 'hold');
    expect(bench.record(two.id)?.conference).toMatchObject({ speaking: false });
    bench.calls.park(two.id, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
    bench.calls.stop(one.id);
    expect(told(one.id)).toEqual(['joined', 'speaking', 'speaking', 'left']);
    expect(told(two.id)).toEqual(['joined', 'speaking', 'left']);
    const events = bench.reports.flatMap((body) =>
      body.type === 'call' && body.call.conference_event ? [body.call.conference_event.id] : [],
    );
    expect(new Set(events).size).toBe(events.length);
    bench.calls.endAll({ code: 'api_stop', detail: null });
    bench.expectNothingLeft();
  });
});

it('an agent that fails in a conference leaves it: the others go on, and who is alone hears music', async () => {
  const [one, two] = await bench.callsUp(2);
  if (!one || !two) throw new Error('no calls');
  await bench.calls.transfer(one.id, blind('conference:sales;agent=stay'));
  await bench.calls.transfer(two.id, room);
  bench.media.agentInRoomFails(new Error('a bug of the agent'));
  expect(bench.media.agentsInRoom.size).toBe(0);
  expect([...(bench.media.rooms[0] ?? [])]).toEqual([one.media, two.media]);
  expect(bench.notes).toContain('The agent failed and has left the conference sales: a bug of the agent');
  bench.calls.stop(two.id);
  expect(bench.record(one.id)?.ended_at).toBeNull();
  expect(one.media.endpoint).toBe(bench.agents.holdMusic);
  bench.calls.stop(one.id);
  bench.expectNothingLeft();
});

it('a party alone with an agent that fails hears music until another one comes', async () => {
  const [one, two] = await bench.callsUp(2);
  if (!one || !two) throw new Error('no calls');
  await bench.calls.transfer(one.id, blind('conference:sales;agent=stay'));
  bench.media.agentInRoomFails(new Error('a bug of the agent'));
  expect(one.media.endpoint).toBe(bench.agents.holdMusic);
  await bench.calls.transfer(two.id, room);
  // Its room was released, and is opened again.
  expect(bench.media.rooms.at(-1)).toEqual(new Set([one.media, two.media]));
  bench.calls.endAll({ code: 'api_stop', detail: null });
  bench.expectNothingLeft();
});

it('a conference whose room is broken ends with its calls, and the next one is another', async () => {
  const [one, two, three] = await bench.callsUp(3);
  if (!one || !two || !three) throw new Error('no calls');
  for (const { id } of [one, two]) await bench.calls.transfer(id, room);
  bench.media.roomFails(new Error('a bug of the mixer'));
  for (const { id } of [one, two])
    expect(bench.record(id)).toMatchObject({
      termination: 'media_lost',
      termination_detail: 'The conference sales failed: a bug of the mixer',
    });
  expect(bench.calls.conferences.size).toBe(0);
  await bench.calls.transfer(three.id, room);
  expect(bench.calls.conferences.parties).toBe(1);
  bench.calls.endAll({ code: 'api_stop', detail: null });
  expect(bench.shard.host.size).toBe(0);
  bench.expectNothingLeft();
});
