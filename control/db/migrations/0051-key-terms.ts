/** Words that callers of an organization are likely to say, for the transcription. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('key_terms', 'text').execute();
}
