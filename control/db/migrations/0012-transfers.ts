import type { Kysely } from 'kysely';

/** What became of a call besides its end: to whom it was handed over, and who had answered it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('transferred_to', 'text').execute();
  await db.schema.alterTable('calls').addColumn('answered_by', 'text').execute();
}
