/** No version reads or writes the table `replicas`: who lives is known from the leases. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('replicas').execute();
}
