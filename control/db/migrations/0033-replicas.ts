/** Several control planes on one database: who lives, what they tell each other, and which of them an edge is linked to. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('replicas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('peer_host', 'text', (column) => column.notNull())
    .addColumn('peer_port', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('replica_messages')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('sender', 'text', (column) => column.notNull())
    .addColumn('recipient', 'text')
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('sent_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('replica_messages_pruned')
    .addColumn('one', 'integer', (column) => column.primaryKey())
    .addColumn('last_id', 'integer', (column) => column.notNull())
    .execute();
  for (const [name, type] of [
    ['replica_id', 'text'],
    ['gauges', 'text'],
  ] as const)
    await db.schema.alterTable('edges').addColumn(name, type).execute();
  for (const name of ['link_epoch', 'applied_version'])
    await db.schema
      .alterTable('edges')
      .addColumn(name, 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
}
