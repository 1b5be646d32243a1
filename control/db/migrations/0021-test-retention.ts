import { type Kysely, sql } from 'kysely';

/** Test run content and tornado sessions get a retention time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('test_run_records').addColumn('ended_at', 'text').execute();
  await db.schema.alterTable('test_run_records').addColumn('deleted_at', 'text').execute();
  await sql`update test_run_records set ended_at =
    (select completed_at from test_runs where test_runs.id = test_run_records.run_id)`.execute(db);
  await db.schema
    .createIndex('test_run_records_ended')
    .on('test_run_records')
    .column('ended_at')
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('test_tornado_ended')
    .on('test_tornado_sessions')
    .column('completed_at')
    .where(sql.ref('completed_at'), 'is not', null)
    .execute();
}
