/** Credentials of browsers that call, the keys that they are made with, and where edges take such calls. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('phone_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('edge_id', 'text', (column) => column.notNull())
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('caller', 'text', (column) => column.notNull())
    .addColumn('purpose', 'text')
    .addColumn('calls', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('revoked_at', 'text')
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('phone_sessions').columns(columns).execute();
  await index('phone_sessions_of_organization', ['org_id', 'created_at', 'id']);
  await index('phone_sessions_by_end', ['org_id', 'expires_at']);
  await index('phone_sessions_to_forget', ['expires_at']);
  await db.schema
    .createTable('phone_keys')
    .addColumn('org_id', 'text', (column) => column.primaryKey())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('revoked', 'text', (column) => column.notNull())
    .execute();
  await db.schema.alterTable('edges').addColumn('wss_port', 'integer').execute();
}
