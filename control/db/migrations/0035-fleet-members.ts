import type { Kysely } from 'kysely';

/** The edges that share the work on trunks, and what an edge that takes over a registration must know. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('fleet')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('members', 'text', (column) => column.notNull())
    .execute();
  for (const column of ['edge_id', 'bound_at', 'refusal']) {
    await db.schema.alterTable('registrations').addColumn(column, 'text').execute();
  }
}
