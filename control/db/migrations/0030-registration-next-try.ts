import type { Kysely } from 'kysely';

/** When a failed registration is retried, as reported by its edge. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('registrations').addColumn('next_try_at', 'text').execute();
}
