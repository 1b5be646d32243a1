/** Noises that organizations give, for the weather of test runs over a call. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('test_noises')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('audio', 'text', (column) => column.notNull())
    .addColumn('seconds', 'real', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('test_noises_of_organization')
    .on('test_noises')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
}
