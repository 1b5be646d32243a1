/** The certificates that the endpoints of trunks present. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('trunk_endpoints').addColumn('certificate', 'text').execute();
}
