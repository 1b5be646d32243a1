/** Started, unfinished background work: what is left at a start was ended by a crash. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('work_under_way')
    .addColumn('queue', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('began_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('work_under_way_key', ['queue', 'id'])
    .execute();
}
