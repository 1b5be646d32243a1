/**
 * Indexes for the search of calls by the other party, by why they ended, and for those that sounded bad, each in list
 * order (calls/call-search.ts; the expressions are in call-expressions.ts); and for the lists of an organization's
 * webhook deliveries.
 */
import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index calls_by_other_party on calls
    (org_id, (case direction when 'inbound' then from_number else to_number end), started_at, id)`.execute(
    db,
  );
  await db.schema
    .createIndex('calls_by_termination')
    .on('calls')
    .columns(['org_id', 'termination', 'started_at', 'id'])
    .execute();
  // Few calls are in it, so it costs little.
  const poor =
    dialectOf(db) === 'sqlite'
      ? sql`json_extract(media, '$.mos') <= 3.6`
      : sql`((media::json ->> 'mos')::double precision) <= 3.6`;
  await sql`create index calls_by_poor_sound on calls (org_id, started_at, id) where ${poor}`.execute(db);
  const ofOrganization = (name: string) =>
    db.schema
      .createIndex(`webhook_deliveries_${name}`)
      .on('webhook_deliveries')
      .columns(['org_id', 'created_at', 'id']);
  await ofOrganization('of_organization').execute();
  await ofOrganization('waiting').where(sql.ref('next_attempt_at'), 'is not', null).execute();
  await ofOrganization('given_up')
    .where(sql.ref('next_attempt_at'), 'is', null)
    .where(sql.ref('delivered_at'), 'is', null)
    .execute();
}
