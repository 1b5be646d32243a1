/** Recordings of calls, the keys that open them, and who is recorded. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('recording', 'text').execute();
  await db.schema
    .createTable('recording_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('private_key', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('retired_at', 'text')
    .execute();
  await db.schema
    .createTable('recordings')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('place', 'text', (column) => column.notNull())
    .addColumn('received', 'integer', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('ephemeral', 'text', (column) => column.notNull())
    .addColumn('wrapped', 'text', (column) => column.notNull())
    .addColumn('ended', 'text')
    .addColumn('frames', 'integer')
    .addColumn('runs', 'text')
    .addColumn('pauses', 'text')
    .addColumn('peaks', 'text')
    .execute();
  await db.schema.createIndex('recordings_by_call').on('recordings').columns(['org_id', 'call_id']).execute();
  await db.schema.createIndex('recordings_by_org').on('recordings').columns(['org_id', 'id']).execute();
  await db.schema.createIndex('recordings_by_start').on('recordings').columns(['started_at']).execute();
  await db.schema.createIndex('recordings_by_key').on('recordings').columns(['key_id', 'id']).execute();
  await db.schema
    .createTable('recording_parts')
    .addColumn('recording_id', 'text', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('bytes', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('recording_parts_key', ['recording_id', 'at'])
    .execute();
}
