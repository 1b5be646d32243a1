/** How many runs of a scenario must have passed before the gate opens. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('test_scenarios')
    .addColumn('promotion_repeats', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
}
