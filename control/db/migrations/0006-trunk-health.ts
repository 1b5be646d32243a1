import type { Kysely } from 'kysely';

/** The last probe of each endpoint, and hourly sums of probes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('trunk_endpoints')
    .addColumn('configuration_id', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('port', 'integer', (column) => column.notNull())
    .addColumn('healthy', 'integer', (column) => column.notNull())
    .addColumn('response_time_ms', 'integer')
    .addColumn('checked_at', 'text', (column) => column.notNull())
    .addColumn('consecutive_failures', 'integer', (column) => column.notNull())
    .addColumn('active', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('trunk_endpoints_key', ['configuration_id', 'host', 'port'])
    .execute();
  await db.schema
    .createTable('trunk_hours')
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('hour', 'text', (column) => column.notNull())
    .addColumn('rounds', 'integer', (column) => column.notNull())
    .addColumn('healthy_rounds', 'integer', (column) => column.notNull())
    .addColumn('answered_probes', 'integer', (column) => column.notNull())
    .addColumn('response_ms', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('trunk_hours_key', ['org_id', 'number', 'hour'])
    .execute();
}
