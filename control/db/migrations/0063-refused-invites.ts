/** INVITEs that edges have refused: a row for each source, reason and number, however often it was. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('refused_invites')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('edge_id', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('unanswered', 'integer', (column) => column.notNull())
    .addColumn('first_at', 'text', (column) => column.notNull())
    .addColumn('last_at', 'text', (column) => column.notNull())
    .addColumn('sip_status', 'integer', (column) => column.notNull())
    .addColumn('detail', 'text')
    .addColumn('caller', 'text')
    .addColumn('dialled', 'text')
    .addColumn('user_agent', 'text')
    .addColumn('sip_call_id', 'text')
    .addUniqueConstraint('refused_invites_key', ['org_id', 'source', 'reason', 'number'])
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('refused_invites').columns(columns).execute();
  await index('refused_invites_of_organization', ['org_id', 'last_at', 'id']);
  await index('refused_invites_by_time', ['last_at', 'id']);
  await index('refused_invites_by_source', ['source', 'last_at', 'id']);
}
