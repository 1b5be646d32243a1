import type { Kysely } from 'kysely';

/** Discoveries and test calls: requested over HTTP, run and reported by an edge. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('discoveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('result', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('completed_at', 'text')
    .execute();
  await db.schema
    .createIndex('discoveries_of_organization')
    .on('discoveries')
    .columns(['org_id', 'started_at'])
    .execute();
  await db.schema
    .createTable('test_calls')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
}
