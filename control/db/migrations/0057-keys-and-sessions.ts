/** Roles and ends of API keys, and sessions of browsers that a key began. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Keys from before may do everything in their organization, as they could; one that a replica of the version before
  // still makes, too.
  await db.schema
    .alterTable('api_keys')
    .addColumn('role', 'text', (column) =>
      column.notNull().defaultTo('admin').check(sql`role in ('read', 'member', 'admin')`),
    )
    .execute();
  await db.schema.alterTable('api_keys').addColumn('expires_at', 'text').execute();
  await db.schema
    .createIndex('api_keys_of_organization')
    .on('api_keys')
    .columns(['org_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('key_id', 'text', (column) => column.notNull().references('api_keys.id'))
    .addColumn('org_id', 'text', (column) => column.references('organizations.id'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('user_agent', 'text')
    .execute();
  // One index for each list, in its order, and one for those whose time is over.
  for (const whose of ['key_id', 'org_id']) {
    await db.schema
      .createIndex(`sessions_by_${whose}`)
      .on('sessions')
      .columns([whose, 'created_at', 'id'])
      .execute();
  }
  await db.schema.createIndex('sessions_by_expiry').on('sessions').column('expires_at').execute();
}
