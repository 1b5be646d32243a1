import type { Kysely } from 'kysely';

/** Columns of outbound calls: failed attempts, and data of the order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('failover_attempts', 'text').execute();
  await db.schema
    .alterTable('calls')
    .addColumn('metadata', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute();
  await db.schema.alterTable('calls').addColumn('webhook', 'text').execute();
}
