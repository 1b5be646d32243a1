/**
 * Calls by hour and by day, trunk, direction and MOS: what aggregates are read from, so that they cost the same however many
 * calls there are. A MOS has two decimals, so that percentiles are exact. Rows are written with the record of a call
 * (calls/call-sums.ts); the calls that are there already are counted in the background (calls/earlier-calls.ts).
 */
import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';
import { withoutRowid } from './dialects.ts';

/** Replicas of the release before may run beside this one for so long: what they write is counted afterwards. */
const formerReleaseMs = 60 * 60 * 1000;

export async function up(db: Kysely<unknown>): Promise<void> {
  await withoutRowid(db)(
    db.schema
      .createTable('call_sums')
      .addColumn('org_id', 'text', (column) => column.notNull())
      .addColumn('unit', 'text', (column) => column.notNull())
      .addColumn('period', 'text', (column) => column.notNull())
      .addColumn('trunk_id', 'text', (column) => column.notNull())
      .addColumn('direction', 'text', (column) => column.notNull())
      .addColumn('mos', 'integer', (column) => column.notNull())
      .addColumn('calls', 'integer', (column) => column.notNull())
      .addColumn('answered', 'integer', (column) => column.notNull())
      .addColumn('talk_ms', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_sums_key', ['org_id', 'unit', 'period', 'trunk_id', 'direction', 'mos']),
  ).execute();
  await db.schema.createIndex('call_sums_by_age').on('call_sums').columns(['unit', 'period']).execute();
  // No row: all calls are counted. One row: those with an id below `before_id` are not.
  await db.schema
    .createTable('uncounted_calls')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('before_id', 'text', (column) => column.notNull())
    .addColumn('begins_at', 'text', (column) => column.notNull())
    .execute();
  await countAnew(db);
}

/** All calls that are there are not counted yet; on PostgreSQL they are once no replica of the release before runs. */
export async function countAnew(db: Kysely<unknown>): Promise<void> {
  const waitMs = dialectOf(db) === 'postgres' ? formerReleaseMs : 0;
  const beginsAt = new Date(Date.now() + waitMs).toISOString();
  // Above every id: they are hexadecimal.
  await sql`insert into uncounted_calls (id, before_id, begins_at)
    select 1, 'g', ${beginsAt} where exists (select 1 from calls)`.execute(db);
}
