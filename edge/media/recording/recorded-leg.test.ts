/** Recordings of real SRTP legs: with an agent, and bridged to another leg. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pcmu, testOptions, toneEndpoint, useMedia } from '../../../test/kit/edge/media.ts';
import { type ReadRecording, readRecording, recordingOrder } from '../../../test/kit/edge/recordings.ts';
import { frequencyOf, share } from '../../../test/kit/fakes/audio.ts';
import { DiskRoom } from './disk-room.ts';

const folder = mkdtempSync(join(tmpdir(), 'recorded-leg-'));
afterAll(() => rmSync(folder, { recursive: true }));

const recordings = { folder, room: new DiskRoom(10_000_000) };
const { media, party } = useMedia({ ...testOptions(31_900), recordings });

/** Whether a tenth of a second contains nearly only this tone: a busy machine may leave gaps elsewhere. */
function hasTone(samples: Int16Array, hz: number): boolean {
  for (let at = 0; at + 800 <= samples.length; at += 160) {
    const part = samples.subarray(at, at + 800);
    if (share(part, hz, 8000) > 0.9 && Math.abs(frequencyOf(part, 8000) - hz) < hz * 0.02) return true;
  }
  return false;
}

/** Plays until a recording has these tones: a busy machine may stall this process. Closes the legs then. */
async function recorded(
  id: string,
  { heard, sent }: { readonly heard: number; readonly sent: number },
  play: () => Promise<unknown>,
): Promise<ReadRecording> {
  const path = join(folder, id);
  for (;;) {
    await play();
    const growing = await readRecording(`${path}.part`);
    if (hasTone(growing.heard, heard) && hasTone(growing.sent, sent)) return growing;
  }
}

test('a leg with an agent has the caller and the agent on their own channels', async () => {
  const id = '00000000-0000-7000-8000-000000000001';
  const one = await party(pcmu);
  one.leg.attach(toneEndpoint(650));
  one.leg.record(recordingOrder(id));
  expect(() => one.leg.record(recordingOrder(id))).toThrow('recorded already');
  await recorded(id, { heard: 500, sent: 650 }, () => one.peer.play(one.peer.toneFrames(500, 50)));
  one.leg.close();
  await expect.poll(() => readdirSync(folder)).toContain(`${id}.rec`);
  const { marks, torn } = await readRecording(join(folder, `${id}.rec`));
  expect(marks.map(({ what }) => what)).toEqual(['ended']);
  expect(torn).toBe(false);
});

test.each([
  ['a recorded leg', 2, true],
  ['a leg that is recorded from then on', 3, false],
])('a bridge of %s passes through this process and is recorded', async (_which, n, before) => {
  const id = `00000000-0000-7000-8000-00000000000${n}`;
  const one = await party(pcmu);
  const other = await party(pcmu, { beside: one.leg });
  if (before) one.leg.record(recordingOrder(id));
  const bridge = await media().bridge(one.leg, other.leg, { transcode: false });
  expect(bridge.mode).toBe(before ? 'transcoded' : 'relayed');
  if (!before) one.leg.record(recordingOrder(id));
  await expect.poll(() => bridge.mode).toBe('transcoded');
  await recorded(id, { heard: 500, sent: 900 }, () =>
    Promise.all([
      one.peer.play(one.peer.toneFrames(500, 50)),
      other.peer.play(other.peer.toneFrames(900, 50)),
    ]),
  );
  one.leg.close();
  other.leg.close();
  await expect.poll(() => readdirSync(folder)).toContain(`${id}.rec`);
});
