/**
 * Stored messages that are sent in several attempts: webhook deliveries, alert notices and mails about ports. Their
 * tables share the columns of the attempts (`DeliveryColumns`).
 */
import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { Clock } from '#shared/clock.ts';
import { type Db, deleteInBatches, type Without } from '../db/index.ts';
import { afterFailure } from './rules.ts';

type Tables = Db extends Kysely<infer T> ? T : never;
type AttemptsTable = 'webhook_deliveries' | 'alert_notices' | 'port_mails';
type Waiting<Row> = SelectQueryBuilder<Tables, AttemptsTable, Row>;

/** Finished messages are kept this long, for troubleshooting. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** Messages of `query` due at `now` (ISO), longest due first. */
export function dueAttempts<Row>(
  query: Waiting<Row>,
  now: string,
  without: Without,
  limit: number,
): Promise<Row[]> {
  let due = query.where('next_attempt_at', '<=', now);
  if (without.ids.length > 0) due = due.where('id', 'not in', [...without.ids]);
  if (without.organizations.length > 0) due = due.where('org_id', 'not in', [...without.organizations]);
  return due.orderBy('next_attempt_at').limit(limit).execute();
}

/** When the next message of `query` after `now` (ISO) is due; null if there is none. */
export async function nextDueAt(query: Waiting<unknown>, now: string): Promise<string | null> {
  const row = await query
    .clearSelect()
    .select('next_attempt_at')
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .executeTakeFirst();
  return row?.next_attempt_at ?? null;
}

/** Stores the result of an attempt. */
export async function updateAttempt<Table extends AttemptsTable>(
  db: Db,
  table: Table,
  id: string,
  change: Partial<Omit<Tables[Table], 'id' | 'org_id'>>,
): Promise<void> {
  await db.updateTable<AttemptsTable>(table).set(change).where('id', '=', id).execute();
}

/**
 * Counts an attempt that threw, or that a crash interrupted.
 * @param later when the next one is due at the earliest, ISO
 * @param why one sentence
 */
export async function countFailure(
  db: Db,
  table: AttemptsTable,
  id: string,
  later: string,
  why: string,
  schedule?: readonly number[],
): Promise<void> {
  const row = await db
    .selectFrom(table)
    .selectAll()
    .where('id', '=', id)
    // Not what was delivered just before a crash.
    .where('next_attempt_at', 'is not', null)
    .executeTakeFirst();
  if (row) await updateAttempt(db, table, id, afterFailure(row, later, why, schedule));
}

/** Deletes what was finished long ago. Returns how many rows were deleted. */
export function pruneAttempts(db: Db, clock: Pick<Clock, 'now'>, table: AttemptsTable): Promise<number> {
  const before = new Date(clock.now() - keptMs).toISOString();
  return deleteInBatches((limit) =>
    db
      .deleteFrom(table)
      .where('id', 'in', (eb) =>
        eb
          .selectFrom(table)
          .select('id')
          .where('created_at', '<', before)
          .where('next_attempt_at', 'is', null)
          .limit(limit),
      )
      .executeTakeFirst(),
  );
}
