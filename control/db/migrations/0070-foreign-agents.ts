/** Agents that are not ours, as the targets of scenarios. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('test_agents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('headers', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('test_agents_by_age')
    .on('test_agents')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
  await db.schema.alterTable('test_scenarios').addColumn('agent_id', 'text').execute();
  await db.schema.alterTable('test_runs').addColumn('agent_id', 'text').execute();
  const ofScenarios = (name: string) =>
    db.schema
      .createIndex(`test_scenarios_${name}`)
      .on('test_scenarios')
      .where(sql.ref('deleted_at'), 'is', null);
  await ofScenarios('name_of_agent_id').columns(['agent_id', 'name']).unique().execute();
  await ofScenarios('by_agent_id').columns(['org_id', 'agent_id', 'created_at', 'id']).execute();
  // Deleted ones too: their runs stay.
  await db.schema
    .createIndex('test_scenarios_of_agent')
    .on('test_scenarios')
    .columns(['agent_id', 'id'])
    .execute();
  await db.schema
    .createIndex('test_runs_by_agent_id')
    .on('test_runs')
    .columns(['org_id', 'agent_id', 'created_at', 'id'])
    .execute();
}
