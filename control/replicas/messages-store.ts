/** Messages between replicas as rows. */
import { sql } from 'kysely';
import { type Db, databaseTime, type Json, toJson, wakeListeners } from '../db/index.ts';

/** A message that is not stored yet. */
export interface Draft {
  readonly topic: string;
  readonly sender: string;
  readonly recipient: string | null;
  readonly body: Json;
}

export interface StoredMessage {
  readonly id: number;
  readonly topic: string;
  readonly sender: string;
  /** Null: not for this reader. */
  readonly body: Json | null;
  /** Since it was stored, by the database's clock. */
  readonly ageMs: number;
}

/**
 * Stores messages in a transaction, and wakes the replicas after its commit. Transactions that write run one after
 * another (control/db/postgres/dialect.ts), so ids ascend in the order of the commits, and a reader that remembers the
 * last id misses none.
 */
export async function insertMessages(db: Db, drafts: readonly Draft[]): Promise<void> {
  const sent_at = databaseTime(db);
  await db
    .insertInto('replica_messages')
    .values(drafts.map((draft) => ({ ...draft, sent_at })))
    .execute();
  await wakeListeners(db);
}

/** The first messages after `id`, in their order, with the bodies of those that `reader` has to get. */
export async function messagesAfter(
  db: Db,
  reader: string,
  id: number,
  limit: number,
): Promise<StoredMessage[]> {
  return db
    .selectFrom('replica_messages')
    .select(['id', 'topic', 'sender'])
    .select((eb) => [
      eb
        .case()
        .when(
          eb.and([
            eb('sender', '<>', reader),
            eb.or([eb('recipient', 'is', null), eb('recipient', '=', reader)]),
          ]),
        )
        .then(eb.ref('body'))
        .else(null)
        .end()
        .as('body'),
      eb(databaseTime(db), '-', eb.ref('sent_at')).as('ageMs'),
    ])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The newest message ever stored; 0: none. */
export async function lastMessage(db: Db): Promise<number> {
  const newest = await db
    .selectFrom('replica_messages')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirst();
  return Math.max(newest?.id ?? 0, await lastPruned(db));
}

/** The newest deleted message: a reader behind it has missed some. 0: none. */
export async function lastPruned(db: Db): Promise<number> {
  const row = await db.selectFrom('replica_messages_pruned').select('last_id').executeTakeFirst();
  return row?.last_id ?? 0;
}

/** Deletes messages that are too old, and the oldest beyond `most`. @returns the newest deleted one; 0: none */
export function pruneMessages(database: Db, keptMs: number, most: number): Promise<number> {
  return database.transaction().execute(async (db) => {
    const old = await db
      .selectFrom('replica_messages')
      .select((eb) => eb.fn.max('id').as('id'))
      .where('sent_at', '<', sql<number>`${databaseTime(db)} - ${keptMs}`)
      .executeTakeFirst();
    const surplus = await db
      .selectFrom('replica_messages')
      .select('id')
      .orderBy('id', 'desc')
      .offset(most)
      .limit(1)
      .executeTakeFirst();
    const last_id = Math.max(old?.id ?? 0, surplus?.id ?? 0);
    if (last_id === 0) return 0;
    await db.deleteFrom('replica_messages').where('id', '<=', last_id).execute();
    await db
      .insertInto('replica_messages_pruned')
      .values({ one: 1, last_id })
      .onConflict((conflict) => conflict.column('one').doUpdateSet({ last_id }))
      .execute();
    return last_id;
  });
}

export function draft(topic: string, sender: string, recipient: string | null, body: unknown): Draft {
  return { topic, sender, recipient, body: toJson(body) };
}
