/** Started, unanswered work under an Idempotency-Key (contract 1.8). */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotent_work')
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('work_id', 'text', (column) => column.notNull())
    .addColumn('instance', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotent_work_key', ['org_id', 'path', 'key'])
    .execute();
  await db.schema.createIndex('idempotent_work_created').on('idempotent_work').column('created_at').execute();
}
