import type { Kysely } from 'kysely';

/** Results of a call besides its end: the transfer target, and who answered. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('calls').addColumn('transferred_to', 'text').execute();
  await db.schema.alterTable('calls').addColumn('answered_by', 'text').execute();
}
