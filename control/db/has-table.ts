import { type Kysely, sql } from 'kysely';
import { dialectOf } from './dialect-name.ts';

export async function hasTable<T>(db: Kysely<T>, name: string): Promise<boolean> {
  const found =
    dialectOf(db) === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = ${name}`
      : sql`select 1 where to_regclass(${name}) is not null`;
  return (await found.execute(db)).rows.length > 0;
}
