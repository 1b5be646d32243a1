/**
 * What happened in organizations that are being followed by `GET /v1/events`: a window for each of them, and its events,
 * several in a row.
 */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_windows')
    .addColumn('org_id', 'text', (column) => column.primaryKey())
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('last_seq', 'integer', (column) => column.notNull())
    .addColumn('last_octet', 'integer', (column) => column.notNull())
    .addColumn('most_events', 'integer', (column) => column.notNull())
    .addColumn('most_octets', 'integer', (column) => column.notNull())
    .addColumn('read_until', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('events')
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('first_seq', 'integer', (column) => column.notNull())
    .addColumn('octet', 'integer', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('events_key', ['org_id', 'seq'])
    .execute();
}
