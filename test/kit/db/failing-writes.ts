/** Writes that fail, as on a full disk. */
import { type RawBuilder, sql } from 'kysely';
import { dialectOf } from '../../../control/db/dialect-name.ts';
import type { Db, Tables } from '../../../control/db/tables.ts';

type Table = keyof Tables & string;
/** Lets the writes succeed again. */
type End = () => Promise<unknown>;

export function failInserts(db: Db, table: Table): Promise<End> {
  return failWhere(db, table, 'insert', sql`true`);
}

/** Fails what sets the column to this value. */
export function failUpdatesTo(db: Db, table: Table, column: string, value: string): Promise<End> {
  const name = dialectOf(db) === 'sqlite' ? `new.${column}` : column;
  return failWhere(db, table, 'update', sql`${sql.ref(name)} = ${sql.lit(value)}`);
}

async function failWhere(
  db: Db,
  table: Table,
  write: 'insert' | 'update',
  condition: RawBuilder<unknown>,
): Promise<End> {
  const on = sql.table(table);
  if (dialectOf(db) === 'sqlite') {
    await sql`create trigger disk_full before ${sql.raw(write)} on ${on} when ${condition}
      begin select raise(abort, 'full'); end`.execute(db);
    return () => sql`drop trigger disk_full`.execute(db);
  }
  await sql`alter table ${on} add constraint disk_full check (not (${condition})) not valid`.execute(db);
  return () => sql`alter table ${on} drop constraint disk_full`.execute(db);
}
