/** A room turn by turn, with legs and a detector of voices of the test. */
import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { FakeMediaLeg } from '../../../test/kit/fakes/fake-media.ts';
import type { AudioEndpoint, MediaLeg } from '../../call/ports/media.ts';
import { Playout } from '../playout.ts';
import { Room, type RoomHearing } from './room.ts';
import type { RoomVoices } from './talk.ts';

/** A leg that says a constant sample while it has a seat. */
class TestLeg extends FakeMediaLeg {
  readonly says: number;
  heard = 0;

  constructor(codec: 'PCMU' | 'Opus', says: number) {
    super({ callId: 'call-1', codecs: [codec] });
    this.codec = codec;
    this.says = says;
  }

  turn(): void {
    const frame = new Int16Array((this.endpoint?.sampleRate ?? 8000) / 50);
    this.heard = this.endpoint?.read(frame) ? (frame.at(-1) ?? 0) : 0;
    this.endpoint?.write?.(frame.fill(this.says));
  }
}

/** Hears a voice in what is not silent, at once. */
const levels: RoomVoices = {
  load: () => Promise.resolve(),
  create: (_rate, judged) => ({
    write: (frame) => judged(20, frame[0] === 0 ? 0 : 1),
    close: () => {},
  }),
};

function scene({ voices = levels }: { voices?: RoomVoices } = {}) {
  const clock = new FakeClock();
  const playout = new Playout({ clock });
  const heard: string[] = [];
  const faults: string[] = [];
  const legs = new Map<MediaLeg, string>();
  const hearing: RoomHearing = {
    voices,
    heard: (leg, speaks) => void heard.push(`${legs.get(leg)} ${speaks ? 'speaks' : 'is silent'}`),
    deaf: (error) => void faults.push(`deaf: ${error}`),
  };
  const room = () =>
    new Room(playout, hearing, {
      failed: ({ message }) => void faults.push(`room: ${message}`),
      agentFailed: ({ message }) => void faults.push(`agent: ${message}`),
    });
  const leg = (name: string, codec: 'PCMU' | 'Opus', says: number) => {
    const made = new TestLeg(codec, says);
    legs.set(made, name);
    return made;
  };
  const talk = async (parties: readonly TestLeg[], ms: number) => {
    for (let at = 0; at < ms; at += 20) {
      for (const party of parties) party.turn();
      clock.advance(20);
      await Promise.resolve();
    }
  };
  return { clock, playout, heard, faults, room, leg, talk };
}

it('a voice that goes on is one, also when parties with another bandwidth come and go', async () => {
  const { heard, faults, room: open, leg, talk } = scene();
  const room = open();
  const [a, b, wide] = [leg('a', 'PCMU', 500), leg('b', 'PCMU', 0), leg('wide', 'Opus', 0)];
  for (const one of [a, b]) room.enter(one, false);
  await talk([a, b], 400);
  expect(heard).toEqual(['a speaks']);
  room.enter(wide, false);
  expect(a.endpoint?.sampleRate).toBe(16_000);
  await talk([a, b, wide], 400);
  room.leave(wide);
  expect(a.endpoint?.sampleRate).toBe(8000);
  await talk([a, b], 400);
  expect(heard).toEqual(['a speaks']);
  room.leave(a);
  expect(heard).toEqual(['a speaks', 'a is silent']);
  expect(faults).toEqual([]);
});

it.each(['read', 'write'] as const)(
  'an agent whose %s throws leaves the room, and the others go on',
  async (what) => {
    const { faults, room: open, leg, talk, playout } = scene();
    const room = open();
    const [a, b] = [leg('a', 'PCMU', 500), leg('b', 'PCMU', 300)];
    for (const one of [a, b]) room.enter(one, false);
    const agent: AudioEndpoint = {
      sampleRate: 8000,
      read: () => false,
      write: () => {},
      [what]: () => {
        throw new Error('a bug of the agent');
      },
    };
    room.enterAgent(agent);
    await talk([a, b], 200);
    expect(faults).toEqual(['agent: a bug of the agent']);
    expect([a.heard, b.heard]).toEqual([300, 500]);
    room.leaveAgent(agent);
    for (const one of [a, b]) room.leave(one);
    expect(playout.legs).toBe(0);
  },
);

it('a room that fails says so once, and the others go on', async () => {
  let isBroken = false;
  const broken: RoomVoices = {
    load: () => Promise.resolve(),
    create: (rate, judged) => ({
      ...levels.create(rate, judged),
      write: () => {
        if (isBroken) throw new Error('a bug of the detector');
      },
    }),
  };
  const { faults, room: open, leg, talk, playout } = scene({ voices: broken });
  const [one, other] = [open(), open()];
  const [a, b, c, d] = [1, 2, 3, 4].map((says) => leg(`${says}`, 'PCMU', says * 100));
  if (!a || !b || !c || !d) throw new Error('no legs');
  for (const party of [a, b]) one.enter(party, false);
  await talk([a, b], 100);
  isBroken = true;
  await talk([a, b], 100);
  expect(faults).toEqual(['room: a bug of the detector']);
  isBroken = false;
  for (const party of [c, d]) other.enter(party, false);
  await talk([a, b, c, d], 100);
  expect([c.heard, d.heard]).toEqual([400, 300]);
  for (const party of [a, b]) one.leave(party);
  for (const party of [c, d]) other.leave(party);
  expect(playout.legs).toBe(0);
  expect(faults).toHaveLength(1);
});
