/** Phone sessions with which supervisors join calls, and whether a tone tells of them. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['supervises', 'supervision'])
    await db.schema.alterTable('phone_sessions').addColumn(name, 'text').execute();
  await db.schema
    .createIndex('phone_sessions_supervising')
    .on('phone_sessions')
    .columns(['supervises', 'created_at', 'id'])
    .execute();
  await db.schema
    .alterTable('organizations')
    .addColumn('supervision_tone', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
}
