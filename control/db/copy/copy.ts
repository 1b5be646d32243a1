/** Copies a whole database into another, of the same or of the other dialect. */
import { sql } from 'kysely';
import { openDatabase } from '../open.ts';
import type { Db } from '../tables.ts';
import { continueIds, deleteAll, insertRows, pagesOf, RowsDigest } from './rows.ts';
import { type CopiedTable, tablesOf } from './schema.ts';

/** What was written is not what was read. */
export class CopyDiffers extends Error {
  constructor(table: string) {
    super(`The copy of table ${table} differs from the original`);
  }
}

/** The tables of this version of the program. */
export async function currentTables(): Promise<CopiedTable[]> {
  const empty = await openDatabase(':memory:');
  try {
    return await tablesOf(empty.db);
  } finally {
    await empty.close();
  }
}

/**
 * Replaces all rows of `to` by those of `from`, in one transaction, as one snapshot saw them. Every table is read again
 * from the copy and compared by its SHA-256 before it is committed. Generated ids go on after the last one used.
 * @returns rows by table
 * @throws CopyDiffers; nothing is changed then
 */
export async function copyRows(from: Db, to: Db): Promise<ReadonlyMap<string, number>> {
  const tables = await currentTables();
  return reading(from, (source) =>
    to.transaction().execute(async (target) => {
      for (const table of tables.toReversed()) await deleteAll(target, table);
      const copied = new Map<string, number>();
      for (const table of tables) copied.set(table.name, await copyTable(source, target, table));
      return copied;
    }),
  );
}

/** Runs `work` on one snapshot. */
export function reading<Result>(db: Db, work: (snapshot: Db) => Promise<Result>): Promise<Result> {
  return db.transaction().setAccessMode('read only').execute(work);
}

/** Also when triggers have written into it meanwhile. */
export async function copyTable(source: Db, target: Db, table: CopiedTable): Promise<number> {
  await deleteAll(target, table);
  const original = new RowsDigest(table);
  let rows = 0;
  for await (const page of pagesOf(source, table)) {
    original.add(page);
    rows += page.length;
    await insertRows(target, table, page);
  }
  await continueIds(source, target, table);
  const copy = new RowsDigest(table);
  for await (const page of pagesOf(target, table)) copy.add(page);
  if (copy.end() !== original.end()) throw new CopyDiffers(table.name);
  return rows;
}

/** Whether no table has a row. */
export async function isEmpty(db: Db): Promise<boolean> {
  for (const { name } of await currentTables()) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) return false;
  }
  return true;
}

/** Rows by table. */
export async function countAll(db: Db): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of await currentTables()) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(db);
    counts.set(name, rows[0]?.n ?? 0);
  }
  return counts;
}
