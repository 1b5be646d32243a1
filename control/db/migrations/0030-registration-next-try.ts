import type { Kysely } from 'kysely';

/** When a registration that failed is tried again, as its edge told it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('registrations').addColumn('next_try_at', 'text').execute();
}
