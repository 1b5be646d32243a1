/** The database session that renewed a lease last, so that the end of a process is seen before its leases expire. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('leases').addColumn('session_pid', 'integer').execute();
}
