import type { Kysely } from 'kysely';

/** The last reported state of each registration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registrations')
    .addColumn('configuration_id', 'text', (column) => column.primaryKey())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('registrar', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('sip_code', 'integer')
    .addColumn('last_error', 'text')
    .execute();
}
