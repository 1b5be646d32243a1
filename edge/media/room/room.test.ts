/** Conferences of real legs: each party hears the others and not itself. */
import { expect, test } from 'vitest';
import { loudVoices } from '../../../test/kit/ears/loud-voices.ts';
import { type Party, pcmu, testOptions, useMedia } from '../../../test/kit/edge/media.ts';
import { share } from '../../../test/kit/fakes/audio.ts';
import type { AudioEndpoint } from '../../call/ports/media.ts';

const { media, party } = useMedia({ ...testOptions(30_800), voices: loudVoices });

/** Whether the last fifth of a second at the peer is that tone, or has that one among others. */
const hears = ({ peer }: Party, hz: number) => share(peer.samples(1600), hz);

/** Each peer plays its tone until all of them hear what they should. */
async function until(parties: readonly (readonly [Party, number])[], done: () => boolean): Promise<void> {
  let turns = 0;
  while (!done()) {
    if (turns++ > 200) throw new Error('the parties do not hear each other');
    await Promise.all(parties.map(([{ peer }, hz]) => peer.play(peer.toneFrames(hz, 10))));
  }
}

test('three parties hear each other, each without itself, until one leaves', async () => {
  const [a, b, c] = [await party(pcmu), await party(pcmu), await party(pcmu)];
  const room = media().openRoom(a.leg);
  for (const { leg } of [a, b, c]) room.enter(leg, true);
  await until(
    [
      [a, 500],
      [b, 700],
    ],
    () => hears(a, 700) > 0.9 && hears(b, 500) > 0.9 && hears(c, 500) > 0.3 && hears(c, 700) > 0.3,
  );
  expect(hears(a, 500)).toBeLessThan(0.05);
  room.leave(a.leg);
  a.leg.attach(null);
  await until([[b, 700]], () => hears(c, 700) > 0.9);
  for (const { leg } of [b, c]) room.leave(leg);
});

/** Whether a twentieth of a second of what the peer hears while it gets fifteen packets is that tone alone. */
async function hearsMeanwhile({ peer }: Party, hz: number): Promise<boolean> {
  const before = peer.samples().length;
  await peer.heard(peer.packets + 15);
  const heard = peer.samples().subarray(before);
  return Array.from({ length: Math.floor(heard.length / 80) }, (_, n) =>
    heard.subarray(n * 80, n * 80 + 400),
  ).some((part) => part.length === 400 && share(part, hz) > 0.9);
}

test('a tone says that a party comes, and that one goes', async () => {
  const [a, b] = [await party(pcmu), await party(pcmu)];
  const room = media().openRoom(a.leg);
  room.enter(a.leg, true);
  await a.peer.when(() => a.peer.samples().some((sample) => Math.abs(sample) > 1000));
  // A machine that stops for longer than a tone skips it; then the party comes and goes again.
  let [comes, goes] = [false, false];
  for (let turns = 0; !(comes && goes); turns++) {
    expect(turns).toBeLessThan(20);
    room.enter(b.leg, true);
    comes = (await hearsMeanwhile(b, 660)) || comes;
    room.leave(b.leg);
    b.leg.attach(null);
    goes = (await hearsMeanwhile(a, 440)) || goes;
  }
  room.leave(a.leg);
});

test('there are no tones for a party that wants none', async () => {
  const [a, b, c] = [await party(pcmu), await party(pcmu), await party(pcmu)];
  const room = media().openRoom(a.leg);
  for (const { leg } of [a, b]) room.enter(leg, false);
  await until([[b, 900]], () => hears(a, 900) > 0.9);
  room.leave(b.leg);
  b.leg.attach(null);
  room.enter(c.leg, false);
  await until([[c, 1300]], () => hears(a, 1300) > 0.9);
  const heard = a.peer.samples();
  const parts = Array.from({ length: Math.floor(heard.length / 400) }, (_, n) =>
    heard.slice(n * 400, n * 400 + 400),
  ).filter((part) => part.some((sample) => Math.abs(sample) > 1000));
  expect(parts.length).toBeGreaterThan(2);
  for (const hz of [440, 660]) expect(parts.filter((part) => share(part, hz) > 0.5)).toEqual([]);
  for (const { leg } of [a, c]) room.leave(leg);
});

test.each([8000, 16_000] as const)(
  'an agent at %i Hz hears the parties and speaks to them, until it leaves',
  async (sampleRate) => {
    const [a, b] = [await party(pcmu), await party(pcmu)];
    const room = media().openRoom(a.leg);
    for (const { leg } of [a, b]) room.enter(leg, false);
    let heard = new Int16Array(0);
    let at = 0;
    const agent: AudioEndpoint = {
      sampleRate,
      read: (frame) => {
        for (let i = 0; i < frame.length; i++)
          frame[i] = 8000 * Math.sin((2 * Math.PI * 900 * at++) / sampleRate);
        return true;
      },
      write: (frame) => {
        heard = Int16Array.from([...heard.slice(-sampleRate / 5), ...frame]);
      },
    };
    room.enterAgent(agent);
    await until(
      [[a, 500]],
      () =>
        hears(a, 900) > 0.9 &&
        hears(b, 900) > 0.3 &&
        hears(b, 500) > 0.3 &&
        share(heard, 500, sampleRate) > 0.9,
    );
    room.leaveAgent(agent);
    await until([[a, 500]], () => hears(b, 500) > 0.9);
    for (const { leg } of [a, b]) room.leave(leg);
  },
);

test('a muted party hears the others, who do not hear it', async () => {
  const [a, b] = [await party(pcmu), await party(pcmu)];
  const room = media().openRoom(a.leg);
  for (const { leg } of [a, b]) room.enter(leg, true);
  const talk = [
    [a, 500],
    [b, 700],
  ] as const;
  await until(talk, () => hears(a, 700) > 0.9 && hears(b, 500) > 0.9);
  room.mute(a.leg, true);
  await until(talk, () => hears(a, 700) > 0.9 && hears(b, 500) < 0.05);
  room.mute(a.leg, false);
  await until(talk, () => hears(b, 500) > 0.9);
  for (const { leg } of [a, b]) room.leave(leg);
});

test('the room hears who speaks, until the party is muted or leaves', async () => {
  const [a, b] = [await party(pcmu), await party(pcmu)];
  const heard: string[] = [];
  const room = media().openRoom(a.leg, {
    heard: (leg, speaks) =>
      void heard.push(`${leg === a.leg ? 'a' : 'b'} ${speaks ? 'speaks' : 'is silent'}`),
  });
  for (const { leg } of [a, b]) room.enter(leg, true);
  await until([[a, 500]], () => heard.length > 0);
  expect(heard).toEqual(['a speaks']);
  room.mute(a.leg, true);
  await until([[a, 500]], () => heard.length > 1);
  expect(heard).toEqual(['a speaks', 'a is silent']);
  await until([[b, 700]], () => heard.length > 2);
  room.leave(b.leg);
  expect(heard).toEqual(['a speaks', 'a is silent', 'b speaks', 'b is silent']);
  room.leave(a.leg);
});
