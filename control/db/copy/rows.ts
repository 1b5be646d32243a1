/** Rows of any table, read in pages and written in batches, with a digest of their contents. */
import { createHash, type Hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { dialectOf } from '../dialect-name.ts';
import { withoutNul } from '../postgres/text.ts';
import type { Db } from '../tables.ts';
import type { CopiedTable } from './schema.ts';

export type Value = string | number | Buffer | null;
export type Row = Readonly<Record<string, Value>>;

/** Rows in memory at a time. */
const pageRows = 500;
/** Values of one statement; SQLite takes 32,766 (https://sqlite.org/limits.html), PostgreSQL 65,535. */
const mostValues = 30_000;

/** All rows in the order of the key; without a key in the order of their contents. */
export async function* pagesOf(db: Db, table: CopiedTable): AsyncGenerator<Row[]> {
  if (table.key.length === 0) yield* pagesByOffset(db, table);
  else yield* pagesByKey(db, table);
}

async function* pagesByKey(db: Db, table: CopiedTable): AsyncGenerator<Row[]> {
  const key = names(table.key);
  for (let after: RawBuilder<unknown> = sql`true`; ; ) {
    const page = await select(db, table, sql`where ${after} order by ${key} limit ${sql.lit(pageRows)}`);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < pageRows) return;
    after = sql`(${key}) > (${values(table.key.map((name) => last[name] ?? null))})`;
  }
}

async function* pagesByOffset(db: Db, table: CopiedTable): AsyncGenerator<Row[]> {
  for (let offset = 0; ; offset += pageRows) {
    const range = sql`limit ${sql.lit(pageRows)} offset ${sql.lit(offset)}`;
    const page = await select(db, table, sql`order by ${names(table.columns)} ${range}`);
    if (page.length > 0) yield page;
    if (page.length < pageRows) return;
  }
}

/** The rows with these keys, in the order of the key; a key without a row is skipped. */
export async function rowsWith(
  db: Db,
  table: CopiedTable,
  keys: readonly (readonly Value[])[],
): Promise<Row[]> {
  if (keys.length === 0) return [];
  return select(db, table, sql`where ${among(db, table, keys)} order by ${names(table.key)}`);
}

/** Deletes the rows with these keys. */
export async function deleteRows(
  db: Db,
  table: CopiedTable,
  keys: readonly (readonly Value[])[],
): Promise<void> {
  if (keys.length > 0)
    await sql`delete from ${sql.table(table.name)} where ${among(db, table, keys)}`.execute(db);
}

function among(db: Db, table: CopiedTable, keys: readonly (readonly Value[])[]): RawBuilder<unknown> {
  const rows = sql.join(keys.map((key) => sql`(${values(key)})`));
  // SQLite takes several rows as a table only; of a table, PostgreSQL cannot infer the types.
  return dialectOf(db) === 'sqlite'
    ? sql`(${names(table.key)}) in (values ${rows})`
    : sql`(${names(table.key)}) in (${rows})`;
}

async function select(db: Db, table: CopiedTable, rest: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Row>`select ${names(table.columns)}
    from ${sql.table(table.name)} ${rest}`.execute(db);
  return rows;
}

export async function deleteAll(db: Db, table: CopiedTable): Promise<void> {
  await sql`delete from ${sql.table(table.name)}`.execute(db);
}

export type OnExisting = 'fail' | 'replace';

/** @param existing what happens to a row with the key of a given one */
export async function insertRows(
  db: Db,
  table: CopiedTable,
  rows: readonly Row[],
  existing: OnExisting = 'fail',
): Promise<void> {
  // PostgreSQL keeps some of these in partitions, where the id alone is not a unique key. Nothing refers to them.
  const isReplaced = existing === 'replace' && table.generated !== null;
  if (isReplaced)
    await deleteRows(
      db,
      table,
      rows.map((row) => table.key.map((name) => row[name] ?? null)),
    );
  const atOnce = Math.max(1, Math.floor(mostValues / table.columns.length));
  for (let from = 0; from < rows.length; from += atOnce) {
    const batch = rows.slice(from, from + atOnce);
    const tuples = batch.map((row) => sql`(${values(table.columns.map((name) => row[name] ?? null))})`);
    await sql`insert into ${sql.table(table.name)} (${names(table.columns)})
      values ${sql.join(tuples)} ${existing === 'replace' && !isReplaced ? replacing(table) : sql``}`.execute(
      db,
    );
  }
}

function replacing(table: CopiedTable): RawBuilder<unknown> {
  const others = table.columns.filter((name) => !table.key.includes(name));
  if (others.length === 0) return sql`on conflict (${names(table.key)}) do nothing`;
  const changes = others.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`);
  return sql`on conflict (${names(table.key)}) do update set ${sql.join(changes)}`;
}

function names(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((name) => sql.ref(name)));
}

function values(list: readonly Value[]): RawBuilder<unknown> {
  return sql.join(list.map((value) => sql.val(value)));
}

/** Continues a table's generated ids after the last one that `from` has ever used. */
export async function continueIds(from: Db, to: Db, table: CopiedTable): Promise<void> {
  if (table.generated === null) return;
  const last = await lastId(from, table.name, table.generated);
  if (last === 0) return;
  if (dialectOf(to) === 'sqlite') {
    await sql`delete from sqlite_sequence where name = ${table.name}`.execute(to);
    await sql`insert into sqlite_sequence (name, seq) values (${table.name}, ${last})`.execute(to);
  } else {
    await sql`select setval(pg_get_serial_sequence(${table.name}, ${table.generated}), ${last})`.execute(to);
  }
}

async function lastId(db: Db, name: string, column: string): Promise<number> {
  const query =
    dialectOf(db) === 'sqlite'
      ? sql<{ last: number | null }>`select seq as last from sqlite_sequence where name = ${name}`
      : sql<{ last: number | null }>`select last_value as last from pg_sequences
          where schemaname = current_schema()
          and sequencename = substring(pg_get_serial_sequence(${name}, ${column}) from '[^.]+$')`;
  const { rows } = await query.execute(db);
  return rows[0]?.last ?? 0;
}

/** SHA-256 over rows in their order; equal for equal rows of both dialects. */
export class RowsDigest {
  readonly #hash: Hash = createHash('sha256');
  readonly #columns: readonly string[];

  constructor(table: CopiedTable) {
    this.#columns = table.columns;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) for (const name of this.#columns) this.#hash.update(encoded(row[name] ?? null));
  }

  /** In hexadecimal; nothing can be added afterwards. */
  end(): string {
    return this.#hash.digest('hex');
  }
}

/** No two values have the same text, whatever follows them. */
function encoded(value: Value): string {
  if (value === null) return 'n;';
  if (typeof value === 'number') return `d${value};`;
  const text = typeof value === 'string' ? withoutNul(value) : value.toString('hex');
  return `${typeof value === 'string' ? 't' : 'b'}${text.length}:${text};`;
}
