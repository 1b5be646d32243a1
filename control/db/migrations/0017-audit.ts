import type { Kysely } from 'kysely';

/** The audit log, keys' last use, and disabled organizations. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('organizations').addColumn('disabled_at', 'text').execute();
  await db.schema.alterTable('api_keys').addColumn('last_used_at', 'text').execute();
  await db.schema.alterTable('edge_tokens').addColumn('last_used_at', 'text').execute();
  await db.schema
    .createTable('audit_entries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text')
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('actor_kind', 'text', (column) => column.notNull())
    .addColumn('actor', 'text')
    .addColumn('request_id', 'text')
    .addColumn('area', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('changed_fields', 'text', (column) => column.notNull())
    .execute();
  // One index for each filter of the lists of an organization and of operators, in list order.
  for (const whose of ['organization', 'deployment']) {
    for (const filter of [null, 'area', 'subject_id', 'actor']) {
      const columns = [...(whose === 'organization' ? ['org_id'] : []), ...(filter === null ? [] : [filter])];
      await db.schema
        .createIndex(`audit_entries_of_${whose}_by_${filter ?? 'time'}`)
        .on('audit_entries')
        .columns([...columns, 'at', 'id'])
        .execute();
    }
  }
}
