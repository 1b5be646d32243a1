/** Who may have an agent of others called. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['proven_at', 'proof_hash', 'proof_until'])
    await db.schema.alterTable('test_agents').addColumn(name, 'text').execute();
  await db.schema
    .alterTable('test_agents')
    .addColumn('proof_tries', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
