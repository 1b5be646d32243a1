import { type Kysely, sql } from 'kysely';

/** Numbers, their SIP configurations, and the pathways that answer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('pathways')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('nodes', 'text', (column) => column.notNull())
    .addColumn('edges', 'text', (column) => column.notNull())
    .addColumn('last_version', 'integer', (column) => column.notNull())
    .addColumn('production_version', 'integer')
    .addColumn('staging_version', 'integer')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('pathways_of_organization')
    .on('pathways')
    .columns(['org_id', 'created_at'])
    .execute();
  await db.schema
    .createTable('pathway_versions')
    .addColumn('pathway_id', 'text', (column) =>
      column.notNull().references('pathways.id').onDelete('cascade'),
    )
    .addColumn('version_number', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('nodes', 'text', (column) => column.notNull())
    .addColumn('edges', 'text', (column) => column.notNull())
    .addColumn('content_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('pathway_versions_key', ['pathway_id', 'version_number'])
    .execute();
  await db.schema
    .createTable('numbers')
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('pathway_id', 'text')
    .addColumn('pathway_version', 'text')
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('builtin_agent', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('archived_at', 'text')
    .addPrimaryKeyConstraint('numbers_key', ['number', 'org_id'])
    .execute();
  // A number is held by one organization at a time (contract 2.1).
  await db.schema
    .createIndex('numbers_held_once')
    .on('numbers')
    .column('number')
    .unique()
    .where(sql.ref('archived_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('numbers_of_organization')
    .on('numbers')
    .columns(['org_id', 'number'])
    .execute();
  await db.schema.createIndex('numbers_of_pathway').on('numbers').column('pathway_id').execute();
  await db.schema
    .createTable('sip_configurations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) =>
      column.notNull().check(sql`direction in ('inbound', 'outbound')`),
    )
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('sip_endpoint', 'text')
    .addColumn('port', 'integer', (column) => column.notNull())
    .addColumn('auth_mode', 'text')
    .addColumn('allowed_ips', 'text')
    .addColumn('username', 'text')
    .addColumn('password', 'text')
    .addColumn('realm', 'text')
    .addColumn('headers', 'text')
    .addColumn('failover_config', 'text')
    .addColumn('codec_config', 'text')
    .addColumn('alert_config', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('sip_configurations_of_number')
    .on('sip_configurations')
    .columns(['org_id', 'number', 'direction', 'priority'])
    .execute();
}
