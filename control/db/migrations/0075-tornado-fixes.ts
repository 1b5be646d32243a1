/** The fixes of the version that a tornado session hands back, and the lists of a pathway's sessions and scenarios. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const add = (name: string) =>
    db.schema.alterTable('test_tornado_sessions').addColumn(name, 'text').execute();
  await add('fixes');
  await add('base_hash');
  await db.schema
    .createIndex('test_tornado_of_pathway')
    .on('test_tornado_sessions')
    .columns(['org_id', 'pathway_id', 'created_at', 'id'])
    .execute();
  // Deleted ones too: analytics name them.
  await db.schema
    .createIndex('test_scenarios_of_pathway')
    .on('test_scenarios')
    .columns(['pathway_id', 'id'])
    .execute();
}
