/** Chats: kept for a day after their last message (contract 11.3). */
import type { Clock } from '#shared/clock.ts';
import { type ChatRow, type Db, deleteInBatches } from '../db/index.ts';

const keptMs = 24 * 60 * 60 * 1000;

function oldest(clock: Clock): string {
  return new Date(clock.now() - keptMs).toISOString();
}

export async function insertChat(db: Db, row: ChatRow): Promise<void> {
  await db.insertInto('chats').values(row).execute();
}

export function findChat(db: Db, clock: Clock, orgId: string, id: string): Promise<ChatRow | undefined> {
  return db
    .selectFrom('chats')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('last_message_at', '>', oldest(clock))
    .executeTakeFirst();
}

export type ListedChat = Omit<ChatRow, 'agent' | 'state' | 'org_id' | 'revision'>;

/** One page of chats that can be continued, newest message first, and the total. */
export async function listChats(
  db: Db,
  clock: Clock,
  orgId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: ListedChat[]; total: number }> {
  const all = db.selectFrom('chats').where('org_id', '=', orgId).where('last_message_at', '>', oldest(clock));
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all
    .select(['id', 'pathway_id', 'pathway_version', 'completed', 'created_at', 'last_message_at'])
    .orderBy('last_message_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total };
}

/** Returns whether it existed. */
export async function deleteChat(db: Db, orgId: string, id: string): Promise<boolean> {
  const result = await db
    .deleteFrom('chats')
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/**
 * Stores the result of a message. @returns false when another message was stored since `revision` was read, or the chat
 * was deleted
 */
export async function updateChat(
  db: Db,
  { id, revision }: Pick<ChatRow, 'id' | 'revision'>,
  change: Pick<ChatRow, 'state' | 'completed' | 'last_message_at'>,
): Promise<boolean> {
  const result = await db
    .updateTable('chats')
    .set({ ...change, revision: revision + 1 })
    .where('id', '=', id)
    .where('revision', '=', revision)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Deletes expired chats. Returns how many. */
export function pruneChats(db: Db, clock: Clock): Promise<number> {
  return deleteInBatches((limit) => {
    const old = db
      .selectFrom('chats')
      .select('id')
      .where('last_message_at', '<=', oldest(clock))
      .limit(limit);
    return db.deleteFrom('chats').where('id', 'in', old).executeTakeFirst();
  });
}
