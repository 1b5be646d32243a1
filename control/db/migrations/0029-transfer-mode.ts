/** What a peer may request by REFER, for each SIP configuration. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('sip_configurations')
    .addColumn('transfer_mode', 'text', (column) => column.notNull().defaultTo('sip_only'))
    .execute();
}
