import { expect, it } from 'vitest';
import {
  ChunkSealer,
  encodeHeader,
  frameBytes,
  framesPerChunk,
  type RecordingMark,
} from '#shared/recording/format.ts';
import { newRecordingKey, wrapKey } from '#shared/recording/keys.ts';
import { inspect } from './inspect.ts';

const id = '01a22870-987d-76d1-a067-eb9301c0b9f6';
const dataKey = Buffer.alloc(32, 3);

/** A second of audio from the beginning on, and marks at their places. */
function inspected(...marks: readonly (readonly [at: number, mark: RecordingMark])[]) {
  const sealer = new ChunkSealer(dataKey, id);
  const header = encodeHeader({
    version: 1,
    id,
    call_id: 'call-1',
    org_id: 'org-1',
    started_at: '2030-01-01T00:00:00.000Z',
    key: wrapKey(dataKey, newRecordingKey('k1'), id),
  });
  const audio = [0, framesPerChunk].map((at) => sealer.audio(at, Buffer.alloc(framesPerChunk * frameBytes)));
  const file = Buffer.concat([header, ...audio, ...marks.map(([at, mark]) => sealer.mark(at, mark))]);
  return inspect(async (from, to) => file.subarray(from, to), file.length, { id, dataKey });
}

it('is as long as the call when that ended in a pause, which lasts until then', async () => {
  expect(await inspected([50, { what: 'paused' }], [300, { what: 'ended' }])).toMatchObject({
    ended: 'call_ended',
    frames: 300,
    pauses: [{ from: 50, to: 300 }],
  });
});

it('is as long as the call when nothing was heard before its end', async () => {
  expect(await inspected([120, { what: 'ended' }])).toMatchObject({ frames: 120, pauses: [] });
});

it('is no longer than a call can be, whatever its end says', async () => {
  expect((await inspected([0xffff_ffff, { what: 'ended' }])).frames).toBeLessThanOrEqual(800 * 60 * 50);
});
