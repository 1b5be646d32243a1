/** Where the statements of a migration differ between the dialects. */
import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';

interface WithEnd<Builder> {
  modifyEnd(modifier: ReturnType<typeof sql>): Builder;
}

/** SQLite stores the rows of such a table in the order of their key; PostgreSQL has no such tables. */
export function withoutRowid<T>(
  db: Kysely<T>,
): <Builder extends WithEnd<Builder>>(table: Builder) => Builder {
  return (table) => (dialectOf(db) === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table);
}
