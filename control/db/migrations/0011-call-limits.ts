import type { Kysely } from 'kysely';

/** An organization's limits for its outgoing calls; null: the deployment's defaults. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('call_limits', 'text').execute();
}
