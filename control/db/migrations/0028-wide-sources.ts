import type { Kysely } from 'kysely';

/** Whether the operator lets an organization list very wide networks of sources. Rows that do stay as they are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('organizations')
    .addColumn('wide_sources', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
