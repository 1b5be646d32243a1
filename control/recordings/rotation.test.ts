/** Rotation of the recording key while recordings are deleted, and with one that its key does not open. */
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { recordingOf, sendRecording } from '../../test/kit/control/recording-of-edge.ts';
import { currentRecordingKey, rotateRecordingKey } from '../recording-keys/index.ts';
import { emptyRecording, findRecording } from './store.ts';

let test: TestControl;
beforeAll(async () => {
  test = await startControl();
});
afterAll(() => test.close());

async function stored(callId: string): Promise<string> {
  const recording = await recordingOf(test, callId);
  await sendRecording(test, recording);
  return recording.id;
}

/** Runs `meanwhile` once, after the data key of this recording was read and before it is sealed again. */
function afterReading(id: string, meanwhile: () => Promise<void>): KyselyPlugin {
  let isDone = false;
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!isDone && result.rows.some((row) => row.id === id && 'wrapped' in row)) {
        isDone = true;
        await meanwhile();
      }
      return result;
    },
  };
}

describe('a rotation of the recording key', () => {
  it('brings no key of a recording back that is deleted meanwhile', async () => {
    const { clock, database, secrets } = test.control.services;
    const id = await stored('deleted-meanwhile');
    const db = database.db.withPlugin(afterReading(id, () => emptyRecording(database.db, id)));
    await rotateRecordingKey(db, clock, secrets);
    expect(await findRecording(database.db, id)).toMatchObject({
      state: 'deleted',
      ephemeral: '',
      wrapped: '',
    });
  });

  it('seals all others, when one has a data key that cannot be opened', async () => {
    const { clock, database, secrets } = test.control.services;
    const ids = [await stored('before'), await stored('broken'), await stored('behind')];
    const change = { wrapped: Buffer.alloc(48).toString('base64url') };
    await database.db
      .updateTable('recordings')
      .set(change)
      .where('id', '=', ids[1] ?? '')
      .execute();
    const before = await currentRecordingKey(database.db);
    const { id, sealed, left } = await rotateRecordingKey(database.db, clock, secrets);
    expect([sealed, left]).toEqual([2, 1]);
    const keys = await Promise.all(ids.map(async (one) => (await findRecording(database.db, one))?.key_id));
    expect(keys).toEqual([id, before?.key_id, id]);
  });
});
