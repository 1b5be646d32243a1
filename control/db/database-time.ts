import { type RawBuilder, sql } from 'kysely';
import { dialectOf } from './dialect-name.ts';
import type { Db } from './tables.ts';

/**
 * The present time by the database's clock, which all replicas share: ms since the epoch. Not that of the transaction's
 * start.
 */
export function databaseTime(db: Db): RawBuilder<number> {
  return dialectOf(db) === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
}
