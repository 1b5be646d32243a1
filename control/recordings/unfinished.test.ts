/** Recordings that cannot be opened after their edge stayed away: they hold up no others. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { beginRecording, putPart, recordingOf } from '../../test/kit/control/recording-of-edge.ts';
import { deleteParts, findRecording } from './store.ts';
import { UnfinishedRecordings } from './unfinished.ts';

const hourMs = 3_600_000;
let test: TestControl;
let unfinished: UnfinishedRecordings;
/** How often it was looked for the octets of a recording. */
let looked: number;
beforeAll(async () => {
  test = await startControl();
});
afterAll(() => test.close());
beforeEach(async () => {
  await db().deleteFrom('recordings').execute();
  looked = 0;
  const { clock, database, secrets, recordingContents } = test.control.services;
  const counted = Object.create(recordingContents, {
    has: {
      value: (row: Parameters<typeof recordingContents.has>[0]) => {
        looked++;
        return recordingContents.has(row);
      },
    },
    read: { value: recordingContents.read.bind(recordingContents) },
  });
  // Hours later, for these rounds alone: those of the control plane do not open anything beside them.
  const later = new FakeClock(clock.now() + 14 * hourMs);
  unfinished = new UnfinishedRecordings({ clock: later, database, secrets, recordingContents: counted });
});

const db = () => test.control.services.database.db;

async function partly(callId: string): Promise<string> {
  const recording = await recordingOf(test, callId);
  await beginRecording(test, recording);
  await putPart(test, recording.id, 0, recording.bytes.subarray(0, recording.header.length + 8_040));
  return recording.id;
}

/** So many whose octets are not here. */
async function missing(count: number): Promise<void> {
  const id = await partly('missing');
  await test.control.services.recordingContents.delete(id);
  await deleteParts(db(), id);
  const row = await findRecording(db(), id);
  if (!row) throw new Error('the recording has no row');
  for (let i = 1; i < count; i++)
    await db()
      .insertInto('recordings')
      .values({ ...row, id: id.slice(0, -4) + i.toString(16).padStart(4, '0') })
      .execute();
}

async function framesOf(id: string): Promise<number | null | undefined> {
  return (await findRecording(db(), id))?.frames;
}

describe('recordings whose edge stays away', () => {
  it('are opened although there are many before them whose octets are missing', async () => {
    await missing(25);
    const id = await partly('there');
    expect(await unfinished.open()).toEqual({ opened: 1, more: false });
    expect(await framesOf(id)).toBe(25);
  });

  it('are looked at in turn, round after round, when very many have no octets', async () => {
    await missing(450);
    const id = await partly('there');
    const rounds: [number, number | null | undefined][] = [];
    for (let round = 0; round < 4; round++) {
      const before = looked;
      await unfinished.open();
      rounds.push([looked - before, await framesOf(id)]);
    }
    expect(rounds).toEqual([
      [200, null],
      [200, null],
      [51, 25],
      [200, 25],
    ]);
  });

  it('have another round at once while there are more that can be opened', async () => {
    for (let i = 0; i < 25; i++) await partly(`many-${i}`);
    expect(await unfinished.open()).toEqual({ opened: 20, more: true });
    expect(await unfinished.open()).toEqual({ opened: 5, more: false });
  });

  it('are opened although one before them has a key that is not here', async () => {
    const broken = await partly('broken');
    await db()
      .updateTable('recordings')
      .set({ key_id: 'of another backup' })
      .where('id', '=', broken)
      .execute();
    const id = await partly('behind');
    await expect(unfinished.open()).rejects.toThrow('1 recordings cannot be opened');
    expect([await framesOf(broken), await framesOf(id)]).toEqual([null, 25]);
  });
});
