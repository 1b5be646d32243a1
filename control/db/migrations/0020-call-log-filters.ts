/**
 * Indexes for combinations of the call log's filters, each in list order: a page of any combination is read from ranges
 * that contain nothing else (calls/log-store.ts). They begin with the most common filters.
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
    // Calls without a code match no filter by code.
    await index('sip_code').where(sql.ref('sip_code'), 'is not', null).execute();
  }
}
