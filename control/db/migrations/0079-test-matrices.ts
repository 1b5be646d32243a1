/** Simulation sets that are the cells of one matrix: one scenario over versions, voices and weathers. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, type] of [
    ['matrix_id', 'text'],
    ['matrix_place', 'integer'],
    ['matrix_cell', 'text'],
  ] as const) {
    await db.schema.alterTable('test_simulation_sets').addColumn(name, type).execute();
  }
  await db.schema
    .createIndex('test_simulation_sets_of_matrix')
    .on('test_simulation_sets')
    .columns(['matrix_id', 'matrix_place'])
    .execute();
}
