/** Indexes for newer lists. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const index = (name: string, table: string, columns: string[]) =>
    db.schema.createIndex(name).on(table).columns(columns).execute();
  await index('widgets_by_age', 'widgets', ['org_id', 'created_at', 'id']);
  await index('chats_of_organization', 'chats', ['org_id', 'last_message_at', 'id']);
  await index('port_documents_by_age', 'port_documents', ['org_id', 'created_at', 'id']);
}
