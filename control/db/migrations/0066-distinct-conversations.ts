/**
 * What was said in a test run, as a hash: runs that had one conversation are one sample, however many they are. And on how
 * many variants the fixes of a tornado iteration were tried that were not made for them.
 */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('test_runs').addColumn('conversation', 'text').execute();
  await db.schema.alterTable('test_tornado_iterations').addColumn('held_out', 'text').execute();
}
