/** Rows of objects: what is on its way to a storage, in it, or to be deleted there. */
import type { Db, RecordingObjectRow, Without } from '../../db/index.ts';

/** Before all else that is due. */
const atOnce = '1970-01-01T00:00:00.000Z';

export function findObject(db: Db, id: string): Promise<RecordingObjectRow | undefined> {
  return db.selectFrom('recording_objects').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A recording that is to be brought to a storage. @param now ISO */
export async function addObject(
  db: Db,
  object: Pick<RecordingObjectRow, 'id' | 'org_id' | 'storage_id' | 'size'>,
  now: string,
): Promise<void> {
  const begin = { state: 'moving', upload_id: null, attempts: 0, next_attempt_at: now } as const;
  await db
    .insertInto('recording_objects')
    .values({ ...object, ...begin })
    .execute();
}

/** In the transaction that forgets these recordings: their objects are deleted after it, wherever they are. */
export async function forgetObjects(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('recording_objects')
    .set({ state: 'deleting', attempts: 0, next_attempt_at: atOnce })
    .where('id', 'in', [...ids])
    .execute();
}

/** Changes an object that is still in a state. @returns whether it was */
export async function changeObject(
  db: Db,
  { id, state }: Pick<RecordingObjectRow, 'id' | 'state'>,
  change: Partial<Omit<RecordingObjectRow, 'id' | 'org_id' | 'storage_id'>>,
): Promise<boolean> {
  const result = await db
    .updateTable('recording_objects')
    .set(change)
    .where('id', '=', id)
    .where('state', '=', state)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteObject(db: Db, id: string): Promise<void> {
  await db.deleteFrom('recording_objects').where('id', '=', id).where('state', '=', 'deleting').execute();
}

/** An object, and what is known of its storage. */
export interface DueObject extends RecordingObjectRow {
  /** Whose the storage is; null: the operator's. */
  readonly owner: string | null;
  readonly failing_since: string | null;
}

interface WithoutStorages extends Without {
  /** Their ids. */
  readonly storages: readonly string[];
  /** Whether all storages of organizations are left out. */
  readonly own: boolean;
}

export function dueObjects(
  db: Db,
  now: string,
  without: WithoutStorages,
  limit: number,
): Promise<DueObject[]> {
  let due = db
    .selectFrom('recording_objects')
    .leftJoin('recording_storages', 'recording_storages.id', 'recording_objects.storage_id')
    .selectAll('recording_objects')
    .select(['recording_storages.org_id as owner', 'recording_storages.failing_since'])
    .where('recording_objects.next_attempt_at', '<=', now)
    .where((eb) =>
      eb.or([
        eb('recording_storages.paused_until', 'is', null),
        eb('recording_storages.paused_until', '<=', now),
      ]),
    );
  const { ids, organizations, own, storages } = without;
  if (ids.length > 0) due = due.where('recording_objects.id', 'not in', [...ids]);
  if (organizations.length > 0) due = due.where('recording_objects.org_id', 'not in', [...organizations]);
  if (storages.length > 0) due = due.where('recording_objects.storage_id', 'not in', [...storages]);
  if (own) due = due.where('recording_storages.org_id', 'is', null);
  return due.orderBy('recording_objects.next_attempt_at').limit(limit).execute();
}

/** Of objects that are worked on. */
export async function storagesOf(
  db: Db,
  ids: readonly string[],
): Promise<Pick<DueObject, 'storage_id' | 'owner' | 'failing_since'>[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('recording_objects')
    .leftJoin('recording_storages', 'recording_storages.id', 'recording_objects.storage_id')
    .select(['storage_id', 'recording_storages.org_id as owner', 'failing_since'])
    .where('recording_objects.id', 'in', [...ids])
    .execute();
}

export async function nextDueObject(db: Db, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('recording_objects')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .executeTakeFirst();
  const paused = await db
    .selectFrom('recording_storages')
    .select('paused_until')
    .where('paused_until', '>', now)
    .orderBy('paused_until')
    .executeTakeFirst();
  const times = [row?.next_attempt_at, paused?.paused_until].filter((time) => typeof time === 'string');
  return times.sort()[0] ?? null;
}

export async function waitingIn(db: Db, storageId: string): Promise<number> {
  const { count } = await db
    .selectFrom('recording_objects')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('storage_id', '=', storageId)
    .where('state', '=', 'moving')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Objects that something is to be done with, by state. */
export async function countWaiting(db: Db): Promise<Map<RecordingObjectRow['state'], number>> {
  const rows = await db
    .selectFrom('recording_objects')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')] as const)
    .where('next_attempt_at', 'is not', null)
    .groupBy('state')
    .execute();
  return new Map(rows.map(({ state, count }) => [state, Number(count)]));
}
