import { type Kysely, sql } from 'kysely';

/** The client of a widget's thread, and indexes over open threads, which quotas count. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('widget_threads').addColumn('client_hash', 'text').execute();
  const open = (name: string, columns: string[]) =>
    db.schema
      .createIndex(`widget_threads_open_of_${name}`)
      .on('widget_threads')
      .columns(columns)
      .where(sql.ref('ended_at'), 'is', null);
  await open('widget', ['widget_id', 'ends_at']).execute();
  await open('client', ['client_hash']).where(sql.ref('client_hash'), 'is not', null).execute();
}
