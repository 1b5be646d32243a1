/** The list of an organization's matrices, newest first: each row is a cell of one. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('test_simulation_sets_by_matrix')
    .on('test_simulation_sets')
    .columns(['org_id', 'created_at', 'matrix_id'])
    .where(sql.ref('matrix_id'), 'is not', null)
    .execute();
}
