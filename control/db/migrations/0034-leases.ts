/** Work that one of several replicas does at a time: leases, claims on background work, counts that replicas share. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('fence', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'integer', (column) => column.notNull())
    .execute();
  // Also makes the fence a key on PostgreSQL: a renewal, which leaves it, then waits for no transaction that checks it,
  // and a taking, which changes it, does (https://www.postgresql.org/docs/15/explicit-locking.html#LOCKING-ROWS).
  await db.schema.createIndex('leases_by_fence').unique().on('leases').columns(['name', 'fence']).execute();
  await db.schema.createIndex('leases_by_owner').on('leases').column('owner').execute();
  for (const [name, type] of [
    ['org_id', 'text'],
    ['owner', 'text'],
    ['fence', 'integer'],
    ['waits_until', 'text'],
  ] as const)
    await db.schema.alterTable('work_under_way').addColumn(name, type).execute();
  await db.schema
    .createTable('claims')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('fence', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('claims_by_owner').on('claims').column('owner').execute();
}
