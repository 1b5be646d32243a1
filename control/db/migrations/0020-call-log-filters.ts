/**
 * Indexes for the call log's filters together, each in the order of the list: a page of any combination is read from
 * ranges that hold nothing else (calls/log-store.ts). They begin with what a call is found by most.
 */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const filter of ['direction', 'outcome', 'sip_code']) {
    await db.schema.dropIndex(`calls_by_${filter}`).execute();
  }
  for (const first of [[], ['number']]) {
    const index = (status: string) =>
      db.schema
        .createIndex(['calls_by', ...first, status, 'direction'].join('_'))
        .on('calls')
        .columns(['org_id', ...first, status, 'direction', 'started_at', 'id']);
    await index('outcome').execute();
    // Calls that have no code yet are found by none.
    await index('sip_code').where(sql.ref('sip_code'), 'is not', null).execute();
  }
}
