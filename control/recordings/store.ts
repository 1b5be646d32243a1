/** Rows of recordings. */
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import { ApiError } from '#shared/errors.ts';
import type { RecordingHeader } from '#shared/recording/format.ts';
import { type Db, deleteInBatches, fromJson, mostDeletedAtOnce, type RecordingRow } from '../db/index.ts';
import { forgetObjects } from './storage/objects-store.ts';

/** What is needed to find its octets. */
export type PlacedRecording = Pick<RecordingRow, 'id' | 'org_id' | 'place' | 'received'>;

export function findRecording(db: Db, id: string): Promise<RecordingRow | undefined> {
  return db.selectFrom('recordings').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Whether it is there, and was not deleted. */
export async function isKept(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('recordings').select('state').where('id', '=', id).executeTakeFirst();
  return row !== undefined && row.state !== 'deleted';
}

/** The recording of a call. */
export function findRecordingOf(db: Db, orgId: string, callId: string): Promise<RecordingRow | undefined> {
  return db
    .selectFrom('recordings')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('call_id', '=', callId)
    .where('state', '!=', 'deleted')
    .orderBy('id')
    .executeTakeFirst();
}

/**
 * The call of a test run that is recorded: the tested agent's end, or the caller's where that is not here.
 * @throws ApiError RUN_NOT_FOUND, RECORDING_NOT_FOUND
 */
export async function recordedCallOfRun(db: Db, orgId: string, runId: string): Promise<string> {
  const row = await db
    .selectFrom('test_runs')
    .innerJoin('test_run_records', 'test_run_records.run_id', 'test_runs.id')
    .select('test_run_records.voice')
    .where('test_runs.id', '=', runId)
    .where('test_runs.org_id', '=', orgId)
    .executeTakeFirst();
  if (!row) throw ApiError.of('RUN_NOT_FOUND');
  const voice = row.voice === null ? null : fromJson<Pick<Voice, 'call_id' | 'caller_call_id'>>(row.voice);
  const callId = voice && (voice.call_id ?? voice.caller_call_id);
  if (!callId) throw ApiError.of('RECORDING_NOT_FOUND');
  return callId;
}

const listed = ['id', 'call_id', 'started_at', 'state', 'frames', 'ended', 'pauses'] as const;
export type ListedRecording = Pick<RecordingRow, (typeof listed)[number]>;

/** Newest first: ids are in the order of time. */
export function listRecordings(
  db: Db,
  orgId: string,
  before: string | undefined,
  limit: number,
): Promise<ListedRecording[]> {
  let query = db
    .selectFrom('recordings')
    .select(listed)
    .where('org_id', '=', orgId)
    .where('state', '!=', 'deleted');
  if (before !== undefined) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** The row of what an edge begins to send, new or from before. */
export function beginRecording(
  db: Db,
  header: RecordingHeader,
  place: RecordingRow['place'],
): Promise<RecordingRow> {
  const { id, org_id, call_id, started_at, key } = header;
  return db.transaction().execute(async (trx) => {
    const known = await findRecording(trx, id);
    if (known) return known;
    const row: RecordingRow = {
      id,
      org_id,
      call_id,
      started_at,
      state: 'uploading',
      place,
      received: 0,
      ...key,
      ended: null,
      frames: null,
      runs: null,
      pauses: null,
      peaks: null,
    };
    await trx.insertInto('recordings').values(row).execute();
    return row;
  });
}

/** Whether `received` was still `before`, and is `after` now. */
export async function advanceRecording(db: Db, id: string, before: number, after: number): Promise<boolean> {
  const result = await db
    .updateTable('recordings')
    .set({ received: after })
    .where('id', '=', id)
    .where('state', '=', 'uploading')
    .where('received', '=', before)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Its octets are not here any more: it is taken from the beginning again. */
export async function restartRecording(
  db: Db,
  { id, received }: Pick<RecordingRow, 'id' | 'received'>,
  place: RecordingRow['place'],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const result = await trx
      .updateTable('recordings')
      .set({ received: 0, place, frames: null, runs: null, pauses: null, peaks: null })
      .where('id', '=', id)
      .where('state', '=', 'uploading')
      .where('received', '=', received)
      .executeTakeFirst();
    if (result.numUpdatedRows > 0n) await deleteParts(trx, id);
  });
}

/** @returns whether it was not ready before */
export async function finishRecording(
  db: Db,
  id: string,
  facts: Pick<RecordingRow, 'ended' | 'frames' | 'runs' | 'pauses' | 'peaks'>,
): Promise<boolean> {
  const result = await db
    .updateTable('recordings')
    .set({ ...facts, state: 'ready' })
    .where('id', '=', id)
    .where('state', '=', 'uploading')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** From now on it is read from its storage. */
export async function placeInStorage(db: Db, id: string): Promise<void> {
  await db.updateTable('recordings').set({ place: 'storage' }).where('id', '=', id).execute();
}

/** Leaves only what refuses late parts; nothing can open the audio any more. */
export async function emptyRecording(db: Db, id: string): Promise<void> {
  await db
    .updateTable('recordings')
    .set({
      state: 'deleted',
      ephemeral: '',
      wrapped: '',
      frames: null,
      runs: null,
      pauses: null,
      peaks: null,
    })
    .where('id', '=', id)
    .execute();
  await forgetObjects(db, [id]);
  await deleteParts(db, id);
}

/** Recordings deleted before others get their turn at the database. */
const rowsAtOnce = 50;

/**
 * Deletes recordings that began before `time` (ISO), files first: a crash in between leaves the row for the next round.
 * @returns how many were deleted
 */
export async function deleteRecordingsBefore(
  db: Db,
  time: string,
  deleteFile: (id: string) => Promise<void>,
): Promise<number> {
  let deleted = 0;
  while (deleted < mostDeletedAtOnce) {
    const rows = await db
      .selectFrom('recordings')
      .select(['id', 'place', 'state'])
      .where('started_at', '<', time)
      .orderBy('started_at')
      .limit(rowsAtOnce)
      .execute();
    for (const { id, place } of rows) {
      // Of one in a storage, a crash may have left either.
      if (place !== 'database') await deleteFile(id);
      if (place !== 'folder') await deleteParts(db, id);
    }
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0)
      await db.transaction().execute(async (trx) => {
        await forgetObjects(trx, ids);
        await trx.deleteFrom('recordings').where('id', 'in', ids).execute();
      });
    // A part may have come in between, and have made the file again.
    for (const { id, state } of rows) if (state === 'uploading') await deleteFile(id);
    deleted += ids.length;
    if (ids.length < rowsAtOnce) break;
  }
  return deleted;
}

/** Of one recording; a long one has thousands. */
export function deleteParts(db: Db, id: string): Promise<number> {
  return deleteInBatches((limit) =>
    db
      .deleteFrom('recording_parts')
      .where('recording_id', '=', id)
      .where('at', 'in', (eb) =>
        eb
          .selectFrom('recording_parts')
          .select('at')
          .where('recording_id', '=', id)
          .orderBy('at')
          .limit(limit),
      )
      .executeTakeFirst(),
  );
}
