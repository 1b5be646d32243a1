/**
 * What is measured on calls: their quality series, and the turns of their conversations, some of each to a row. A part grows
 * in place, so its text is a list of JSON arrays, each with a comma behind it. On PostgreSQL both are in partitions, like
 * the calls (postgres/partitions.ts).
 */
import { type Kysely, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['quality_parts', 'turn_parts']) {
    const partitioned = dialectOf(db) === 'postgres' ? sql`partition by range (call_id)` : sql``;
    const integer = sql.raw(dialectOf(db) === 'postgres' ? 'bigint' : 'integer');
    await sql`create table ${sql.table(table)} (
      call_id text not null,
      part ${integer} not null,
      content text not null,
      received_at text not null,
      primary key (call_id, part)) ${partitioned}`.execute(db);
    if (dialectOf(db) !== 'postgres') continue;
    await sql`create table ${sql.table(`${table}_undated`)} partition of ${sql.table(table)} default`.execute(
      db,
    );
  }
}
