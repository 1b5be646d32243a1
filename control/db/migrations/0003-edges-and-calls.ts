import type { Kysely } from 'kysely';

/** The edges' configuration and their reports. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createEdgeTables(db);
  await createCallTables(db);
}

async function createEdgeTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('counters')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('edge_config_items')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('content', 'text')
    .addPrimaryKeyConstraint('edge_config_items_key', ['kind', 'key'])
    .execute();
  await db.schema
    .createIndex('edge_config_items_version')
    .on('edge_config_items')
    .column('version')
    .execute();
  await db.schema
    .createTable('edges')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('outbox_id', 'text', (column) => column.notNull())
    .addColumn('sip_host', 'text', (column) => column.notNull())
    .addColumn('sip_port', 'integer', (column) => column.notNull())
    .addColumn('rtp_ip', 'text', (column) => column.notNull())
    .addColumn('rtp_port_min', 'integer', (column) => column.notNull())
    .addColumn('rtp_port_max', 'integer', (column) => column.notNull())
    .addColumn('codecs', 'text', (column) => column.notNull())
    .addColumn('software', 'text', (column) => column.notNull())
    .addColumn('connected_at', 'text', (column) => column.notNull())
    .addColumn('last_seen_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('outboxes')
    .addColumn('outbox_id', 'text', (column) => column.primaryKey())
    .addColumn('edge_id', 'text', (column) => column.notNull())
    .addColumn('acknowledged', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('rejected_reports')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('edge_id', 'text', (column) => column.notNull())
    .addColumn('outbox_id', 'text', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('problem', 'text', (column) => column.notNull())
    .addColumn('report', 'text', (column) => column.notNull())
    .addColumn('received_at', 'text', (column) => column.notNull())
    .execute();
}

/** No foreign keys here: reports are stored as they come, several thousand per second. */
async function createCallTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('calls')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('edge_id', 'text', (column) => column.notNull())
    .addColumn('sip_call_id', 'text', (column) => column.notNull())
    .addColumn('parent_id', 'text')
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('from_number', 'text', (column) => column.notNull())
    .addColumn('to_number', 'text', (column) => column.notNull())
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('trunk_id', 'text')
    .addColumn('source_ip', 'text')
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('answered_at', 'text')
    .addColumn('ended_at', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('sip_code', 'integer')
    .addColumn('sip_reason', 'text')
    .addColumn('termination', 'text')
    .addColumn('termination_detail', 'text')
    .addColumn('hangup_by', 'text')
    .addColumn('codec', 'text')
    .addColumn('media', 'text')
    .addColumn('agent_kind', 'text')
    .addColumn('pathway_id', 'text')
    .addColumn('pathway_version', 'integer')
    .addColumn('max_duration', 'integer')
    .addColumn('request_data', 'text', (column) => column.notNull())
    .addColumn('variables', 'text', (column) => column.notNull())
    .execute();
  const order = ['started_at', 'id'] as const;
  await db.schema
    .createIndex('calls_by_time')
    .on('calls')
    .columns(['org_id', ...order])
    .execute();
  for (const filter of ['number', 'direction', 'outcome', 'sip_code'] as const) {
    await db.schema
      .createIndex(`calls_by_${filter}`)
      .on('calls')
      .columns(['org_id', filter, ...order])
      .execute();
  }
  await db.schema
    .createIndex('calls_by_sip_call_id')
    .on('calls')
    .columns(['sip_call_id', 'org_id'])
    .execute();
  await db.schema.createIndex('calls_by_age').on('calls').column('started_at').execute();
  await db.schema
    .createTable('trace_parts')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('messages', 'text', (column) => column.notNull())
    .addColumn('message_count', 'integer', (column) => column.notNull())
    .addColumn('truncated', 'integer', (column) => column.notNull())
    .addColumn('received_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('transcript_parts')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('entries', 'text', (column) => column.notNull())
    .addColumn('received_at', 'text', (column) => column.notNull())
    .execute();
  for (const table of ['trace_parts', 'transcript_parts'] as const) {
    await db.schema.createIndex(`${table}_of_call`).on(table).columns(['call_id', 'id']).execute();
    await db.schema.createIndex(`${table}_by_age`).on(table).column('received_at').execute();
  }
}
