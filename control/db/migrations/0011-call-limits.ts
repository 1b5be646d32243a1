import type { Kysely } from 'kysely';

/** What an organization limits its outgoing calls to; null: the deployment's defaults. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('call_limits', 'text').execute();
}
