/** Connections to servers whose models hear and speak. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('realtime', 'text').execute();
}
