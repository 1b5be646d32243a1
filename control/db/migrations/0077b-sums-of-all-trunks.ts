/**
 * Sums of all trunks together beside those of each one, so that aggregates without trunks cost the same however many there
 * are. Replicas of the release before write none, so that all calls are counted again once these are gone.
 */
import { type Kysely, sql } from 'kysely';
import { countAnew } from './0064-call-sums.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`delete from call_sums`.execute(db);
  await sql`delete from uncounted_calls`.execute(db);
  await countAnew(db);
}
