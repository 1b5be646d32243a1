import type { Kysely } from 'kysely';

/** Alert recipients, and the default URL of events (contract 14.1). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['alert_emails', 'alert_sms_numbers'] as const) {
    await db.schema
      .alterTable('organizations')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo('[]'))
      .execute();
  }
  await db.schema.alterTable('organizations').addColumn('event_webhook_url', 'text').execute();
}
