/** Which version of the edges' configuration brought what. */
import type { Db } from '../db/index.ts';

/** The version that brought each of these numbers into its present form; numbers never published are left out. */
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
