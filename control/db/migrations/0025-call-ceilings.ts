import type { Kysely } from 'kysely';

/** The operator's limit for one organization instead of the deployment's `CALL_LIMIT_…`; null: none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('call_ceiling', 'text').execute();
}
