/** Storage outside of the deployment for recordings, and what is to be brought there, is there, or is to be deleted there. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recording_storages')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text')
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('bucket', 'text', (column) => column.notNull())
    .addColumn('region', 'text', (column) => column.notNull())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('path_style', 'integer', (column) => column.notNull())
    .addColumn('access_key_id', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('retired_at', 'text')
    .addColumn('last_error', 'text')
    .addColumn('last_error_at', 'text')
    .addColumn('failing_since', 'text')
    .addColumn('paused_until', 'text')
    .execute();
  await db.schema
    .createIndex('recording_storages_by_org')
    .on('recording_storages')
    .columns(['org_id', 'retired_at'])
    .execute();
  await db.schema
    .createTable('recording_objects')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('storage_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('upload_id', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'text')
    .execute();
  await db.schema
    .createIndex('recording_objects_due')
    .on('recording_objects')
    .columns(['next_attempt_at'])
    .execute();
  await db.schema
    .createIndex('recording_objects_by_storage')
    .on('recording_objects')
    .columns(['storage_id', 'state'])
    .execute();
}
