/** Loads: scenarios as calls at once, level by level. Each level is a simulation set. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('test_simulation_sets').addColumn('load_id', 'text').execute();
  await db.schema
    .createTable('test_loads')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('scenario_ids', 'text', (column) => column.notNull())
    .addColumn('version_number', 'integer')
    .addColumn('phone_number', 'text')
    .addColumn('runs_per_level', 'integer')
    .addColumn('seconds_per_level', 'integer')
    .addColumn('seed', 'integer', (column) => column.notNull())
    .addColumn('runs', 'integer', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('levels', 'text', (column) => column.notNull())
    .addColumn('planned', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('completed_at', 'text')
    .execute();
  await db.schema
    .createIndex('test_loads_of_organization')
    .on('test_loads')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
}
