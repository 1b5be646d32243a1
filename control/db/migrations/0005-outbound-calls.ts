import type { Kysely } from 'kysely';

/** What a call of ours has besides: failed attempts, and what its order said for later. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('failover_attempts', 'text').execute();
  await db.schema
    .alterTable('calls')
    .addColumn('metadata', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute();
  await db.schema.alterTable('calls').addColumn('webhook', 'text').execute();
}
