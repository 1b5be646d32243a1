import type { Kysely } from 'kysely';

/** What the operator has set for one organization in place of the deployment's `CALL_LIMIT_…`; null: nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('call_ceiling', 'text').execute();
}
