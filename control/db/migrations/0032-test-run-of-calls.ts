import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';

/** The test run that a call belongs to, so that one rule decides about `call.completed`, also when control closes it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('test_run_id', 'text').execute();
  // No PostgreSQL database is older than this column.
  if (dialectOf(db) !== 'sqlite') return;
  // Edges name the run in the metadata too. Calls in progress are found by the index over organization and outcome.
  await sql`update calls set test_run_id = metadata ->> 'test_run_id'
    where org_id in (select id from organizations) and outcome = 'in_progress' and json_valid(metadata)
      and exists (select 1 from test_runs where id = calls.metadata ->> 'test_run_id'
        and org_id = calls.org_id)`.execute(db);
}
