/** Widgets, threads and messages. */
import { createHash } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { NamedVersion } from '../catalogue/index.ts';
import type { Db, Json, WidgetMessageRow, WidgetRow, WidgetThreadRow } from '../db/index.ts';

export type StoredThread = Selectable<WidgetThreadRow>;

export async function insertWidget(db: Db, row: WidgetRow): Promise<void> {
  await db.insertInto('widgets').values(row).execute();
}

/** @param orgId null: any organization, for requests without a key */
export function findWidget(db: Db, orgId: string | null, id: string): Promise<WidgetRow | undefined> {
  const query = db.selectFrom('widgets').selectAll().where('id', '=', id);
  return (orgId === null ? query : query.where('org_id', '=', orgId)).executeTakeFirst();
}

/** One page, newest first, without their configs. */
export async function listWidgets(
  db: Db,
  orgId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ widgets: Omit<WidgetRow, 'config'>[]; total: number }> {
  const all = db.selectFrom('widgets').where('org_id', '=', orgId);
  const { total } = await all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const widgets = await all
    .select(['id', 'org_id', 'name', 'pathway_id', 'persona_id', 'pathway_version'])
    .select(['created_at', 'updated_at'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { widgets, total: Number(total) };
}

export async function updateWidget(
  db: Db,
  id: string,
  change: Partial<Omit<WidgetRow, 'id' | 'org_id' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('widgets').set(change).where('id', '=', id).execute();
}

/** Deletes a widget that has no threads. */
export async function deleteWidget(db: Db, id: string): Promise<void> {
  await db.deleteFrom('widgets').where('id', '=', id).execute();
}

/** Deletes some threads of a widget with their messages and sessions. Returns their ids. */
export async function deleteThreadsOf(db: Db, widgetId: string, limit: number): Promise<string[]> {
  const some = db
    .selectFrom('widget_threads')
    .select('id')
    .where('widget_id', '=', widgetId)
    .orderBy('ordinal')
    .limit(limit);
  const gone = await db.deleteFrom('widget_threads').where('id', 'in', some).returning('id').execute();
  return gone.map(({ id }) => id);
}

/** Widgets with this pathway. */
export async function widgetsUsingPathway(db: Db, pathwayId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('widgets')
    .select('id')
    .where('pathway_id', '=', pathwayId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Widgets that a version of a pathway answers by its number. */
export async function widgetsUsingVersion(db: Db, { pathwayId, version }: NamedVersion): Promise<string[]> {
  const rows = await db
    .selectFrom('widgets')
    .select('id')
    .where('pathway_id', '=', pathwayId)
    .where('pathway_version', '=', String(version))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Widgets that a persona answers. */
export async function widgetsUsingPersona(db: Db, personaId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('widgets')
    .select('id')
    .where('persona_id', '=', personaId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Stores an agent, once. Returns its hash. @param agent JSON */
export async function keepAgent(db: Db, agent: Json): Promise<string> {
  const hash = createHash('sha256').update(agent).digest('hex');
  await db
    .insertInto('widget_agents')
    .values({ hash, agent })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return hash;
}

/** JSON. */
export async function findAgent(db: Db, hash: string): Promise<Json> {
  const { agent } = await db
    .selectFrom('widget_agents')
    .select('agent')
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow();
  return agent;
}

/** Deletes agents that no thread references. */
export async function pruneAgents(db: Db): Promise<void> {
  await db
    .deleteFrom('widget_agents')
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('widget_threads')
            .select('id')
            .whereRef('widget_threads.agent_hash', '=', 'widget_agents.hash'),
        ),
      ),
    )
    .execute();
}

export async function insertThread(db: Db, row: Omit<WidgetThreadRow, 'ordinal'>): Promise<void> {
  await db.insertInto('widget_threads').values(row).execute();
}

export function findThread(db: Db, widgetId: string, id: string): Promise<StoredThread | undefined> {
  return db
    .selectFrom('widget_threads')
    .selectAll()
    .where('id', '=', id)
    .where('widget_id', '=', widgetId)
    .executeTakeFirst();
}

/** The visitor's newest open thread. @param now ISO */
export function findOpenThread(
  db: Db,
  widgetId: string,
  visitorId: string,
  now: string,
): Promise<StoredThread | undefined> {
  return db
    .selectFrom('widget_threads')
    .selectAll()
    .where('visitor_id', '=', visitorId)
    .where('widget_id', '=', widgetId)
    .where('ended_at', 'is', null)
    .where('ends_at', '>', now)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export type ThreadChange = Partial<
  Pick<
    WidgetThreadRow,
    'state' | 'message_count' | 'answered_count' | 'ends_at' | 'ended_at' | 'live_agent_handoff_at'
  >
>;

export async function updateThread(db: Db, id: string, change: ThreadChange): Promise<void> {
  await db.updateTable('widget_threads').set(change).where('id', '=', id).execute();
}

export interface ThreadFilter {
  readonly widgetId: string;
  /** Omitted for a visitor, whose token identifies the thread. */
  readonly orgId?: string;
  readonly threadId?: string | undefined;
}

/** Newest first. */
export async function listThreads(
  db: Db,
  filter: ThreadFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ threads: StoredThread[]; total: number }> {
  let query = db.selectFrom('widget_threads').where('widget_id', '=', filter.widgetId);
  if (filter.orgId !== undefined) query = query.where('org_id', '=', filter.orgId);
  if (filter.threadId !== undefined) query = query.where('id', '=', filter.threadId);
  const { total } = await query
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const threads = await query
    .selectAll()
    .orderBy('ordinal', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { threads, total: Number(total) };
}

export async function insertMessage(db: Db, row: WidgetMessageRow): Promise<void> {
  await db.insertInto('widget_messages').values(row).execute();
}

/** Oldest first. */
export function messagesOf(
  db: Db,
  threadId: string,
  after = 0,
  limit = 1_000_000,
): Promise<WidgetMessageRow[]> {
  return db
    .selectFrom('widget_messages')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** The newest messages of a thread within this many bytes, oldest first. */
export async function newestMessages(
  db: Db,
  threadId: string,
  most: number,
): Promise<{ messages: WidgetMessageRow[]; isCut: boolean }> {
  const sizes = await db
    .selectFrom('widget_messages')
    .select('number')
    .select(
      // Overhead of a message besides its texts: ids, times, and JSON escapes.
      sql<number>`octet_length(content) + coalesce(octet_length(original_content), 0) + 250`.as('bytes'),
    )
    .where('thread_id', '=', threadId)
    .orderBy('number', 'desc')
    .execute();
  let left = most;
  const fitting = sizes.findIndex(({ bytes }) => {
    left -= bytes;
    return left < 0;
  });
  const after = fitting < 0 ? 0 : (sizes[fitting]?.number ?? 0);
  return { messages: await messagesOf(db, threadId, after), isCut: after > 0 };
}

/** Ends timed-out threads. Returns their ids. @param now ISO */
export async function endTimedOut(db: Db, now: string, limit: number): Promise<string[]> {
  const due = await db
    .selectFrom('widget_threads')
    .select('id')
    .where('ended_at', 'is', null)
    .where('ends_at', '<=', now)
    .orderBy('ends_at')
    .limit(limit)
    .execute();
  if (due.length === 0) return [];
  const ended = await db
    .updateTable('widget_threads')
    .set((eb) => ({ ended_at: eb.ref('ends_at') }))
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .where('ended_at', 'is', null)
    .where('ends_at', '<=', now)
    .returning('id')
    .execute();
  return ended.map(({ id }) => id);
}

/** Deletes threads that ended before a moment, with their messages and sessions. Returns how many. */
export async function deleteThreadsEndedBefore(db: Db, before: string, limit: number): Promise<number> {
  const old = db
    .selectFrom('widget_threads')
    .select('id')
    .where('ended_at', '<', before)
    .orderBy('ended_at')
    .limit(limit);
  const result = await db.deleteFrom('widget_threads').where('id', 'in', old).executeTakeFirst();
  return Number(result.numDeletedRows);
}
