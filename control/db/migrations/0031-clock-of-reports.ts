import type { Kysely } from 'kysely';

/** The edge's time of the last report of each outbox: an earlier one afterward means that its clock was set back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('outboxes').addColumn('reported_at', 'text').execute();
}
