/** What a test run used of language models, and what an organization pays for them. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('test_runs').addColumn('usage', 'text').execute();
  await db.schema.alterTable('organizations').addColumn('model_prices', 'text').execute();
}
