/** Phone sessions that call out over a trunk or are for an agent, and how many calls each has made. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const add = (name: string) => db.schema.alterTable('phone_sessions').addColumn(name, 'text').execute();
  await add('called');
  await add('pathway_id');
  await add('persona_id');
  await db.schema.alterTable('phone_sessions').addColumn('pathway_version', 'integer').execute();
  await db.schema
    .alterTable('phone_sessions')
    .addColumn('calls_made', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createIndex('phone_sessions_of_pathway')
    .on('phone_sessions')
    .columns(['pathway_id', 'pathway_version'])
    .execute();
}
