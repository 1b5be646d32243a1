/** Which version of the edges' configuration contains which change. */
import type { Db } from '../db/index.ts';

/** The version that last changed each of these numbers; unpublished numbers are left out. */
export async function versionsOfNumbers(
  db: Db,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (numbers.length === 0) return new Map();
  const rows = await db
    .selectFrom('edge_config_items')
    .select(['key', 'version'])
    .where('kind', '=', 'number')
    .where('key', 'in', [...numbers])
    .execute();
  return new Map(rows.map((row) => [row.key, row.version]));
}

/** Whether the edges have this version of a pathway, or will have it with their next configuration. */
export async function isPublished(db: Db, pathwayId: string, version: number): Promise<boolean> {
  const row = await db
    .selectFrom('edge_config_items')
    .select('version')
    .where('kind', '=', 'pathway')
    .where('key', '=', `${pathwayId}@${version}`)
    .where('content', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}
