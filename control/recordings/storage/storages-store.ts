/** Rows of storages: at most one of an organization, and one of the operator, take new recordings. */
import { newId } from '#shared/ids.ts';
import type { Db, RecordingStorageRow, SecretBox } from '../../db/index.ts';
import { waitingIn } from './objects-store.ts';

/** What is stored of one, apart from its history. */
export type StorageSettings = Pick<
  RecordingStorageRow,
  'url' | 'bucket' | 'region' | 'prefix' | 'path_style' | 'access_key_id'
>;

const noError = { last_error: null, last_error_at: null, failing_since: null, paused_until: null } as const;

/** How long a storage that is away is left alone: half the time for which it has been away, within these, ms. */
const pauses = { first: 10_000, last: 900_000 };

const secretContext = (id: string) => `recording-storage:${id}`;

/** The one with this owner that takes recordings. @param orgId null: the operator's */
export async function ownStorage(db: Db, orgId: string | null): Promise<RecordingStorageRow | undefined> {
  return (await inForce(db, orgId))[0];
}

/** Newest first: two requests at once may each have put one in force. */
function inForce(db: Db, orgId: string | null): Promise<RecordingStorageRow[]> {
  return db
    .selectFrom('recording_storages')
    .selectAll()
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .where('retired_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Where recordings of an organization go: its own storage, else the operator's. */
export async function storageFor(db: Db, orgId: string): Promise<RecordingStorageRow | undefined> {
  return (await ownStorage(db, orgId)) ?? ownStorage(db, null);
}

export function findStorage(db: Db, id: string): Promise<RecordingStorageRow | undefined> {
  return db.selectFrom('recording_storages').selectAll().where('id', '=', id).executeTakeFirst();
}

export function secretOf({ id, secret }: RecordingStorageRow, secrets: SecretBox): string {
  return secrets.open(secret, secretContext(id));
}

/** Of this owner, in this place, in force or not: it is one storage with other keys. In force first, then newest. */
async function ofPlace(
  db: Db,
  orgId: string | null,
  { url, bucket, prefix }: StorageSettings,
): Promise<RecordingStorageRow[]> {
  const rows = await db
    .selectFrom('recording_storages')
    .selectAll()
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .where('url', '=', url)
    .where('bucket', '=', bucket)
    .where('prefix', '=', prefix)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.sort((a, b) => Number(a.retired_at !== null) - Number(b.retired_at !== null));
}

/**
 * Puts a storage in force. The one before it is retired, unless it is the same place. A place that was retired comes back
 * with these keys, so that what is in it can be read and deleted.
 * @param now ISO
 */
export async function saveStorage(
  db: Db,
  orgId: string | null,
  settings: StorageSettings,
  secretKey: string,
  { secrets, now }: { readonly secrets: SecretBox; readonly now: string },
): Promise<void> {
  const all = await inForce(db, orgId);
  const same = await ofPlace(db, orgId, settings);
  const [before, ...doubles] = same;
  for (const row of all) if (row.id !== before?.id) await retireStorage(db, row.id, now);
  const sealed = (id: string) => ({ ...settings, secret: secrets.seal(secretKey, secretContext(id)) });
  const change = (id: string, more: Partial<RecordingStorageRow>) =>
    db
      .updateTable('recording_storages')
      .set({ ...more, ...noError })
      .where('id', '=', id)
      .execute();
  if (before) {
    await change(before.id, { ...sealed(before.id), retired_at: null });
    for (const { id } of doubles) await change(id, sealed(id));
    // A key of several places is changed in all of them.
    if (before.retired_at !== null) return;
    for (const { id } of await formerWithKey(db, before)) {
      const { access_key_id, secret } = sealed(id);
      await change(id, { access_key_id, secret });
    }
    return;
  }
  const id = newId();
  await db
    .insertInto('recording_storages')
    .values({
      id,
      org_id: orgId,
      ...sealed(id),
      created_at: now,
      retired_at: null,
      ...noError,
    })
    .execute();
}

/** Retired storages of the same owner on the same server with the same key. */
function formerWithKey(db: Db, { org_id, url, access_key_id }: RecordingStorageRow) {
  return db
    .selectFrom('recording_storages')
    .select('id')
    .where('org_id', org_id === null ? 'is' : '=', org_id)
    .where('retired_at', 'is not', null)
    .where('url', '=', url)
    .where('access_key_id', '=', access_key_id)
    .execute();
}

/** @param now ISO @returns whether there was one */
export async function removeStorages(db: Db, orgId: string | null, now: string): Promise<boolean> {
  const all = await inForce(db, orgId);
  for (const { id } of all) await retireStorage(db, id, now);
  return all.length > 0;
}

/** What is on its way to it stays where it is; what is in it stays in it. */
async function retireStorage(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable('recording_storages').set({ retired_at: now }).where('id', '=', id).execute();
  await db
    .updateTable('recording_objects')
    .set({ state: 'deleting', attempts: 0, next_attempt_at: now })
    .where('storage_id', '=', id)
    .where('state', '=', 'moving')
    .execute();
  await deleteUnused(db, id);
}

/** Deletes a retired storage that no object names, with its keys. */
export async function deleteUnused(db: Db, id: string): Promise<void> {
  await db
    .deleteFrom('recording_storages')
    .where('id', '=', id)
    .where('retired_at', 'is not', null)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('recording_objects').select('id').where('storage_id', '=', id))),
    )
    .execute();
}

/** Leaves a storage alone that is away: its recordings would keep those of others waiting. @param now ms */
export async function pauseStorage(
  db: Db,
  { id }: Pick<RecordingStorageRow, 'id'>,
  now: number,
): Promise<void> {
  const row = await findStorage(db, id);
  const away = row?.failing_since ? now - Date.parse(row.failing_since) : 0;
  const pauseMs = Math.min(pauses.last, Math.max(pauses.first, away / 2));
  const paused_until = new Date(now + pauseMs).toISOString();
  await db.updateTable('recording_storages').set({ paused_until }).where('id', '=', id).execute();
}

/** @param error null: an attempt succeeded @param now ISO */
export async function noteResult(db: Db, id: string, error: string | null, now: string): Promise<void> {
  const update = db.updateTable('recording_storages').where('id', '=', id);
  if (error === null) await update.set(noError).where('last_error', 'is not', null).execute();
  else
    await update
      .set((eb) => ({
        last_error: error,
        last_error_at: now,
        failing_since: eb.fn.coalesce('failing_since', eb.val(now)),
      }))
      .execute();
}

/** How long attempts fail before somebody is told: longer than a restart of a server takes. */
const toldAfterMs = 5 * 60_000;

/**
 * Every storage that takes recordings, and former ones that fail, by names for the operator; and whether they have been
 * failing for minutes. @param now ms
 */
export async function failingStorages(db: Db, now: number): Promise<Map<string, boolean>> {
  const rows = await db
    .selectFrom('recording_storages')
    .select(['id', 'org_id', 'failing_since', 'retired_at'])
    .where((eb) => eb.or([eb('retired_at', 'is', null), eb('failing_since', 'is not', null)]))
    .execute();
  return new Map(
    rows.map(({ id, org_id, failing_since, retired_at }) => [
      `${retired_at === null ? 'storage' : `former storage ${id}`} of recordings${org_id === null ? '' : ` of organization ${org_id}`}`,
      failing_since !== null && Date.parse(failing_since) <= now - toldAfterMs,
    ]),
  );
}

/** Former storages that are listed. */
const mostFormer = 20;

export type FormerStorage = Pick<
  RecordingStorageRow,
  'url' | 'bucket' | 'prefix' | 'access_key_id' | 'last_error' | 'last_error_at'
> & {
  /** Recordings that are in it, or are to be deleted there. */
  readonly recordings: number;
};

/** Storages that were replaced or removed and are still needed, the latest first. */
export async function formerStorages(db: Db, orgId: string | null): Promise<FormerStorage[]> {
  const rows = await db
    .selectFrom('recording_storages')
    .select(['url', 'bucket', 'prefix', 'access_key_id', 'last_error', 'last_error_at'])
    .select((eb) =>
      eb
        .selectFrom('recording_objects')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('recording_objects.storage_id', '=', 'recording_storages.id')
        .as('recordings'),
    )
    .where('org_id', orgId === null ? 'is' : '=', orgId)
    .where('retired_at', 'is not', null)
    .orderBy('retired_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostFormer)
    .execute();
  return rows.map((row) => ({ ...row, recordings: Number(row.recordings) }));
}

export interface StorageState {
  readonly row: RecordingStorageRow;
  /** Recordings that are not in it yet. */
  readonly waiting: number;
}

export async function storageState(db: Db, orgId: string | null): Promise<StorageState | null> {
  const row = await ownStorage(db, orgId);
  return row ? { row, waiting: await waitingIn(db, row.id) } : null;
}
