import { type Kysely, sql } from 'kysely';

/** Publications, personas and their versions, chats, and references to pathways. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('pathways')
    .addColumn('publications', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('numbers').addColumn('persona_id', 'text').execute();
  await db.schema.createIndex('numbers_of_persona').on('numbers').column('persona_id').execute();
  await db.schema.alterTable('calls').addColumn('persona_id', 'text').execute();
  await createPersonas(db);
  await createPendingPromotions(db);
  await createChats(db);
  await createReferences(db);
}

async function createPersonas(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('personas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text')
    .addColumn('description', 'text')
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('production_version_id', 'text', (column) => column.notNull())
    .addColumn('draft_version_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('deleted_at', 'text')
    .execute();
  await db.schema
    .createIndex('personas_of_organization')
    .on('personas')
    .columns(['org_id', 'created_at', 'id'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute();
  await db.schema
    .createTable('persona_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('persona_id', 'text', (column) => column.notNull().references('personas.id'))
    .addColumn('version_type', 'text', (column) => column.notNull())
    .addColumn('version_number', 'integer', (column) => column.notNull())
    .addColumn('orchestration_prompt', 'text')
    .addColumn('personality_prompt', 'text')
    .addColumn('pathway_conditions', 'text', (column) => column.notNull())
    .addColumn('call_config', 'text', (column) => column.notNull())
    .addColumn('default_tools', 'text', (column) => column.notNull())
    .addColumn('content_hash', 'text', (column) => column.notNull())
    .addColumn('promoted_from_version_id', 'text')
    .addColumn('promoted_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('persona_versions_of_persona')
    .on('persona_versions')
    .columns(['persona_id', 'version_number'])
    .unique()
    .execute();
}

async function createPendingPromotions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('pending_promotions')
    .addColumn('batch_id', 'text', (column) => column.notNull())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('content_hash', 'text', (column) => column.notNull())
    .addColumn('in_production', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('pending_promotions_key', ['batch_id', 'kind', 'subject_id', 'version'])
    .execute();
  await db.schema
    .createIndex('pending_promotions_of_subject')
    .on('pending_promotions')
    .columns(['kind', 'subject_id'])
    .execute();
}

async function createChats(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('chats')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('pathway_id', 'text', (column) => column.notNull())
    .addColumn('pathway_version', 'integer', (column) => column.notNull())
    .addColumn('agent', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('revision', 'integer', (column) => column.notNull())
    .addColumn('completed', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_message_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('chats_by_age').on('chats').column('last_message_at').execute();
}

async function createReferences(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('pathway_references')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('pathway_id', 'text', (column) => column.notNull())
    .addColumn('version', 'text')
    .execute();
  await db.schema
    .createIndex('pathway_references_of_pathway')
    .on('pathway_references')
    .column('pathway_id')
    .execute();
  await db.schema
    .createIndex('pathway_references_of_source')
    .on('pathway_references')
    .column('source')
    .execute();
  const live = await sql<{ source: string; nodes: string }>`select id || '@0' as source, nodes
    from pathways where nodes like '%transferPathwayId%'`.execute(db);
  const kept = await sql<{
    source: string;
    nodes: string;
  }>`select pathway_id || '@' || version_number as source, nodes
    from pathway_versions where nodes like '%transferPathwayId%'`.execute(db);
  for (const { source, nodes } of [...live.rows, ...kept.rows]) {
    for (const [id, version] of transfers(JSON.parse(nodes))) {
      await sql`insert into pathway_references (source, pathway_id, version)
        values (${`pathway:${source}`}, ${id}, ${version})`.execute(db);
    }
  }
}

/** Id and version of the target pathways of Transfer Pathway nodes. */
function transfers(nodes: readonly { type?: unknown; data?: Record<string, unknown> }[]): [string, string][] {
  return nodes.flatMap(({ type, data }): [string, string][] => {
    const id = data?.transferPathwayId;
    if (type !== 'Transfer Pathway' || typeof id !== 'string') return [];
    const version = Number(data?.transferPathwayVersion ?? 0);
    return [[id, String(Number.isInteger(version) && version > 0 ? version : 0)]];
  });
}
