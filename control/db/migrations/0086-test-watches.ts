/** Watches: production calls that are judged as they end. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('test_watches')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('pathway_id', 'text')
    .addColumn('persona_id', 'text')
    .addColumn('number', 'text')
    .addColumn('assertions', 'text', (column) => column.notNull())
    .addColumn('assertions_at', 'text', (column) => column.notNull())
    .addColumn('sample_rate', 'real', (column) => column.notNull())
    .addColumn('calls_per_day', 'integer', (column) => column.notNull())
    .addColumn('model_tokens_per_day', 'integer', (column) => column.notNull())
    .addColumn('drift_min_calls', 'integer', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('cursor_at', 'text', (column) => column.notNull())
    .addColumn('cursor_id', 'text', (column) => column.notNull())
    .addColumn('next_at', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('judged', 'integer', (column) => column.notNull())
    .addColumn('skipped', 'integer', (column) => column.notNull())
    .addColumn('model_tokens', 'integer', (column) => column.notNull())
    .addColumn('alarm', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('test_watches_of_organization')
    .on('test_watches')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('test_watches_due')
    .on('test_watches')
    .columns(['enabled', 'next_at'])
    .execute();
  await db.schema
    .createTable('test_watched_calls')
    .addColumn('watch_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('version', 'integer')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('conversation', 'text', (column) => column.notNull())
    .addColumn('reasoning', 'text', (column) => column.notNull())
    .addColumn('results', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text', (column) => column.notNull())
    .addColumn('judged_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('test_watched_calls_key', ['watch_id', 'call_id'])
    .execute();
  await db.schema
    .createIndex('test_watched_calls_by_end')
    .on('test_watched_calls')
    .columns(['watch_id', 'ended_at', 'call_id'])
    .execute();
  await sql`create index calls_by_end on calls (org_id, ended_at, id)
    where test_run_id is null and parent_id is null`.execute(db);
}
