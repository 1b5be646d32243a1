import { type RawBuilder, sql } from 'kysely';
import { dialectOf } from './dialect-name.ts';
import type { Json } from './json.ts';
import type { Db } from './tables.ts';

/** The JSON object of a column, with an empty list as one of its members. */
export function emptiedList<T>(db: Db, column: string, member: string): RawBuilder<Json<T>> {
  const json = sql.ref(column);
  return dialectOf(db) === 'sqlite'
    ? sql`json_set(${json}, ${`$.${member}`}, json('[]'))`
    : sql`jsonb_set(${json}::jsonb, array[${member}], '[]')::text`;
}
