/** Calls of widgets' visitors: which phone session is for which thread, and which messages were spoken. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('phone_sessions').addColumn('last_call_id', 'text').execute();
  await db.schema.alterTable('widget_messages').addColumn('call_id', 'text').execute();
  await db.schema
    .createTable('widget_calls')
    .addColumn('session_id', 'text', (column) => column.primaryKey())
    .addColumn('widget_id', 'text', (column) => column.notNull())
    .addColumn('thread_id', 'text', (column) =>
      column.notNull().references('widget_threads.id').onDelete('cascade'),
    )
    .addColumn('copied_part', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  const index = (name: string, column: string) =>
    db.schema.createIndex(name).on('widget_calls').column(column).execute();
  await index('widget_calls_of_widget', 'widget_id');
  await index('widget_calls_of_thread', 'thread_id');
}
