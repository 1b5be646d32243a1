/**
 * Recording keys: one is in force and in the edges' configuration, the others are retired. A retired one still opens what
 * an edge sealed for it, until the edge has sent it.
 */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import {
  newRecordingKey,
  type RecordingKeyPair,
  type RecordingPublicKey,
  unwrapKey,
  wrapKey,
} from '#shared/recording/keys.ts';
import type { Db, RecordingKeyRow, SecretBox } from '../db/index.ts';

/** A retired key that seals nothing is deleted after this: longer than an edge can be away and still bring recordings. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
/** Data keys that are sealed again before others get their turn at the database. */
const rowsAtOnce = 200;

const contextOf = (id: string) => `recording-key:${id}`;

/** The key that edges seal for; null before the first start of this version. */
export async function currentRecordingKey(db: Db): Promise<RecordingPublicKey | null> {
  const row = await db
    .selectFrom('recording_keys')
    .select(['id', 'public_key'])
    .where('retired_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .executeTakeFirst();
  return row ? { key_id: row.id, public_key: row.public_key } : null;
}

/** Creates the first key. */
export function ensureRecordingKey(db: Db, clock: Clock, secrets: SecretBox): Promise<void> {
  return db.transaction().execute(async (trx) => {
    if (!(await currentRecordingKey(trx))) await insertKey(trx, clock, secrets);
  });
}

/** Null: there is no such key. @throws Error when it was sealed with another key of the deployment */
export async function recordingKeyPair(
  db: Db,
  secrets: SecretBox,
  id: string,
): Promise<RecordingKeyPair | null> {
  const row = await db.selectFrom('recording_keys').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? pairOf(row, secrets) : null;
}

/**
 * Puts a new key in force, and seals the data keys of all stored recordings for it. The caller publishes it to the edges.
 * One data key that cannot be opened keeps neither the others nor the edges from the new key.
 * @returns the new key's id, how many data keys were sealed again, and how many were left because they cannot be opened
 */
export async function rotateRecordingKey(
  db: Db,
  clock: Clock,
  secrets: SecretBox,
): Promise<{ id: string; sealed: number; left: number }> {
  const now = new Date(clock.now());
  const key = await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('recording_keys')
      .set({ retired_at: now.toISOString() })
      .where('retired_at', 'is', null)
      .execute();
    return insertKey(trx, clock, secrets);
  });
  const retired = await db.selectFrom('recording_keys').selectAll().where('id', '!=', key.key_id).execute();
  let [sealed, left] = [0, 0];
  for (const old of retired) {
    const done = await sealAnew(
      db,
      old.id,
      orNull(() => pairOf(old, secrets)),
      key,
    );
    sealed += done.sealed;
    left += done.left;
  }
  const before = new Date(now.getTime() - keptMs).toISOString();
  await db
    .deleteFrom('recording_keys')
    .where('retired_at', '<', before)
    .where('id', 'not in', (eb) => eb.selectFrom('recordings').select('key_id').distinct())
    .execute();
  return { id: key.key_id, sealed, left };
}

async function sealAnew(
  db: Db,
  oldId: string,
  old: RecordingKeyPair | null,
  key: RecordingKeyPair,
): Promise<{ sealed: number; left: number }> {
  let [sealed, left] = [0, 0];
  for (let after = ''; ; ) {
    const rows = await db
      .selectFrom('recordings')
      .select(['id', 'key_id', 'ephemeral', 'wrapped'])
      .where('key_id', '=', oldId)
      .where('state', '!=', 'deleted')
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute();
    await db.transaction().execute(async (trx) => {
      for (const row of rows) {
        const dataKey = old && orNull(() => unwrapKey(row, old, row.id));
        if (dataKey === null) {
          left++;
          continue;
        }
        // Deleted since it was read: its key must not come back.
        await trx
          .updateTable('recordings')
          .set(wrapKey(dataKey, key, row.id))
          .where('id', '=', row.id)
          .where('state', '!=', 'deleted')
          .execute();
        sealed++;
      }
    });
    const last = rows.at(-1);
    if (!last || rows.length < rowsAtOnce) return { sealed, left };
    after = last.id;
  }
}

/** Null: it cannot be opened. */
function orNull<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}

async function insertKey(db: Db, clock: Clock, secrets: SecretBox): Promise<RecordingKeyPair> {
  const key = newRecordingKey(newId());
  await db
    .insertInto('recording_keys')
    .values({
      id: key.key_id,
      public_key: key.public_key,
      private_key: secrets.seal(key.private_key, contextOf(key.key_id)),
      created_at: new Date(clock.now()).toISOString(),
      retired_at: null,
    })
    .execute();
  return key;
}

function pairOf({ id, public_key, private_key }: RecordingKeyRow, secrets: SecretBox): RecordingKeyPair {
  return { key_id: id, public_key, private_key: secrets.open(private_key, contextOf(id)) };
}
