import type { Kysely } from 'kysely';

/** Whether the operator permits an organization to list very wide source networks. Existing rows stay. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('organizations')
    .addColumn('wide_sources', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
