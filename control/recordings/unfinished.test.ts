/** Recordings that cannot be opened after their edge stayed away: they hold up no others. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { beginRecording, putPart, recordingOf } from '../../test/kit/control/recording-of-edge.ts';
import { deleteParts, findRecording } from './store.ts';
import { openUnfinished } from './unfinished.ts';

const hourMs = 3_600_000;
let test: TestControl;
beforeAll(async () => {
  test = await startControl();
});
afterAll(() => test.close());
beforeEach(() => db().deleteFrom('recordings').execute());

const db = () => test.control.services.database.db;

async function partly(callId: string): Promise<string> {
  const recording = await recordingOf(test, callId);
  await beginRecording(test, recording);
  await putPart(test, recording.id, 0, recording.bytes.subarray(0, recording.header.length + 8_040));
  return recording.id;
}

async function framesOf(id: string): Promise<number | null | undefined> {
  return (await findRecording(db(), id))?.frames;
}

describe('recordings whose edge stays away', () => {
  it('are opened although there are many before them whose octets are missing', async () => {
    for (let i = 0; i < 25; i++) {
      const id = await partly(`missing-${i}`);
      await test.control.services.recordingContents.delete(id);
      await deleteParts(db(), id);
    }
    const id = await partly('there');
    test.clock.advance(14 * hourMs);
    expect(await openUnfinished(test.control.services)).toBe(1);
    expect(await framesOf(id)).toBe(25);
  });

  it('are opened although one before them has a key that is not here', async () => {
    const broken = await partly('broken');
    await db()
      .updateTable('recordings')
      .set({ key_id: 'of another backup' })
      .where('id', '=', broken)
      .execute();
    const id = await partly('behind');
    test.clock.advance(14 * hourMs);
    await expect(openUnfinished(test.control.services)).rejects.toThrow('1 recordings cannot be opened');
    expect([await framesOf(broken), await framesOf(id)]).toEqual([null, 25]);
  });
});
