/** What the operator decides about edges and their proxies, and the region that a number's outbound calls prefer. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('edges').addColumn('region', 'text').execute();
  await db.schema
    .alterTable('edges')
    .addColumn('weight', 'integer', (column) => column.notNull().defaultTo(100))
    .execute();
  await db.schema.alterTable('edges').addColumn('draining_since', 'text').execute();
  await db.schema
    .createTable('sip_proxies')
    .addColumn('address', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.alterTable('sip_configurations').addColumn('region_config', 'text').execute();
}
