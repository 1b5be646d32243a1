import { type AliasedRawBuilder, sql } from 'kysely';
import { dialectOf } from './dialect-name.ts';
import type { Db } from './tables.ts';

/** A table to select from, by a given index where the dialect lets the query choose (SQLite's INDEXED BY). */
export function onIndex<Row, Name extends string>(
  db: Db,
  table: Name,
  index: string,
): AliasedRawBuilder<Row, Name> {
  const named =
    dialectOf(db) === 'sqlite' ? sql`${sql.table(table)} indexed by ${sql.ref(index)}` : sql.table(table);
  return sql<Row>`${sql.table(table)}`.as<Name>(named);
}
