/** Elements of the edges' configuration that were removed are found without reading all. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('edge_config_items_removed')
    .on('edge_config_items')
    .where(sql.ref('content'), 'is', null)
    .column('version')
    .execute();
}
