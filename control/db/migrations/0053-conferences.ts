/** The conference that a call is in. Its id is a column of its own, by which a list finds the calls. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('conference_id', 'text').execute();
  await db.schema.alterTable('calls').addColumn('conference', 'text').execute();
  // Few calls are in a conference, so the index costs the others nothing.
  await sql`create index calls_in_conferences on calls (org_id, conference_id)
    where conference_id is not null and ended_at is null`.execute(db);
}
