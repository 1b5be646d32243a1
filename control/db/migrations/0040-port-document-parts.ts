/** Documents of ports inside the database, where several control planes use it: encrypted, in parts. */
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('port_document_parts')
    .addColumn('file_name', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('bytes', 'blob', (column) => column.notNull())
    .addPrimaryKeyConstraint('port_document_parts_key', ['file_name', 'number'])
    .execute();
}
