/** When the end of a call was stored, so that watches miss no call that an edge reports long after its end. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('end_stored_at', 'text').execute();
  // Calls of earlier versions, and of replicas of the release before, have no such time.
  await sql`create index calls_by_stored_end on calls (org_id, (coalesce(end_stored_at, ended_at)), id)
    where test_run_id is null and parent_id is null and ended_at is not null`.execute(db);
  await sql`drop index calls_by_end`.execute(db);
  await db.schema.alterTable('test_watches').addColumn('ends_from', 'text').execute();
  await sql`update test_watches set ends_from = created_at`.execute(db);
}
