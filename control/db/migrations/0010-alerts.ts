import { type Kysely, sql } from 'kysely';

/** Trunk alerts, their notices by mail and SMS, and the facts they are evaluated on (contract 3.5). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createAlerts(db);
  await createNotices(db);
  await db.schema
    .createTable('trunk_probe_runs')
    .addColumn('configuration_id', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('port', 'integer', (column) => column.notNull())
    .addColumn('checked_at', 'text', (column) => column.notNull())
    .addColumn('failing_since', 'text')
    .addColumn('response_times', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('trunk_probe_runs_key', ['configuration_id', 'host', 'port'])
    .execute();
  await db.schema
    .createIndex('trunk_probe_runs_by_age')
    .on('trunk_probe_runs')
    .column('checked_at')
    .execute();
  // The rate of failed calls is counted from this index only; it leaves out running calls.
  await db.schema
    .createIndex('calls_ended_by_trunk')
    .on('calls')
    .columns(['trunk_id', 'ended_at', 'outcome'])
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('sip_configurations_with_alerts')
    .on('sip_configurations')
    .column('id')
    .where(sql.ref('alert_config'), 'is not', null)
    .execute();
}

async function createAlerts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alerts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('configuration_id', 'text', (column) => column.notNull())
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('threshold', 'real', (column) => column.notNull())
    .addColumn('value', 'real', (column) => column.notNull())
    .addColumn('window_minutes', 'integer')
    .addColumn('calm_evaluations', 'integer', (column) => column.notNull())
    .addColumn('raised_at', 'text', (column) => column.notNull())
    .addColumn('resolved_at', 'text')
    .execute();
  // At most one open alert per configuration and kind, even if evaluated twice.
  await db.schema
    .createIndex('alerts_open_once')
    .on('alerts')
    .columns(['configuration_id', 'kind'])
    .unique()
    .where(sql.ref('resolved_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('alerts_of_organization')
    .on('alerts')
    .columns(['org_id', 'raised_at', 'id'])
    .execute();
  await db.schema
    .createIndex('alerts_of_number')
    .on('alerts')
    .columns(['org_id', 'number', 'raised_at', 'id'])
    .execute();
  await db.schema.createIndex('alerts_by_end').on('alerts').column('resolved_at').execute();
}

async function createNotices(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alert_notices')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('alert_id', 'text', (column) => column.notNull())
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('first_attempt_at', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'text')
    .addColumn('delivered_at', 'text')
    .addColumn('last_error', 'text')
    .execute();
  await db.schema
    .createIndex('alert_notices_due')
    .on('alert_notices')
    .columns(['channel', 'next_attempt_at'])
    .execute();
  await db.schema
    .createIndex('alert_notices_once')
    .on('alert_notices')
    .columns(['alert_id', 'event', 'channel', 'recipient'])
    .unique()
    .execute();
  await db.schema.createIndex('alert_notices_by_age').on('alert_notices').column('created_at').execute();
}
