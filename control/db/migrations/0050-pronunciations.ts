/** How agents of an organization pronounce words. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('pronunciations', 'text').execute();
}
