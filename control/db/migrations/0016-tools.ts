import type { Kysely } from 'kysely';

/** Tools, the resources they use, and the results of their runs (contract 8). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('tools')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('integration', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('input_schema', 'text')
    .addColumn('body', 'text')
    .addColumn('speech', 'text')
    .addColumn('timeout', 'real', (column) => column.notNull())
    .addColumn('cache', 'integer', (column) => column.notNull())
    .addColumn('response_data', 'text')
    .addColumn('max_retries', 'integer', (column) => column.notNull())
    .addColumn('cooldown', 'real', (column) => column.notNull())
    .addColumn('resource_id', 'text')
    .addColumn('public', 'integer', (column) => column.notNull())
    .addColumn('label', 'text')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('tools_by_age').on('tools').columns(['org_id', 'created_at', 'id']).execute();
  await db.schema
    .createTable('integration_resources')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('integration', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('credentials', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('refusals', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('integration_resources_by_age')
    .on('integration_resources')
    .columns(['org_id', 'integration', 'created_at', 'id'])
    .execute();
  await db.schema
    .createTable('tool_runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('tool_id', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('conversation_id', 'text')
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('success', 'integer', (column) => column.notNull())
    .addColumn('cached', 'integer', (column) => column.notNull())
    .addColumn('status_code', 'integer')
    .addColumn('duration_ms', 'integer', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('error', 'text')
    .execute();
  await db.schema
    .createIndex('tool_runs_by_tool')
    .on('tool_runs')
    .columns(['tool_id', 'started_at', 'id'])
    .execute();
  await db.schema.createIndex('tool_runs_by_age').on('tool_runs').column('started_at').execute();
}
