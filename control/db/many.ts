/**
 * Statements over many rows at once, with one text whatever their number. Each statement on PostgreSQL is a round trip
 * during which the transaction holds its locks; SQLite has none, and there a prepared statement for each row is faster.
 */
import { type Compilable, type RawBuilder, type SqlBool, sql } from 'kysely';
import { builtOnce } from './built-once.ts';
import { dialectOf } from './dialect-name.ts';
import type { Db, Tables } from './tables.ts';

/** Whether a column has one of these values. For queries that are built once: `values` is one parameter. */
export function isAmong(db: Db, column: string, values: readonly string[]): RawBuilder<SqlBool> {
  if (dialectOf(db) === 'postgres') return sql<SqlBool>`${sql.ref(column)} = any(${values}::text[])`;
  return sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${values}))`;
}

/** The same for queries that are built each time. */
export function isListed(db: Db, column: string, values: readonly string[]): RawBuilder<SqlBool> {
  if (dialectOf(db) === 'postgres') return sql<SqlBool>`${sql.ref(column)} = any(${values}::text[])`;
  return sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}

/** What a column holds, in PostgreSQL's words. */
type ColumnType = 'text' | 'bigint';

export type ColumnTypes<Row> = { readonly [Column in keyof Row]-?: ColumnType };

/** What happens to rows whose key exists. */
export type OnConflict = 'ignore' | Update;

interface Update {
  readonly key: string | readonly string[];
  /** These columns get the values of the insert. No two rows of a run may have the same key. */
  readonly columns: readonly string[];
  /** Texts of these are appended to what is there. */
  readonly appended?: readonly string[];
  /** Numbers of these are added to what is there. */
  readonly added?: readonly string[];
  /** Only where this column has the same value, too. */
  readonly where?: string;
}

/**
 * Inserts rows into a table, in their order.
 * @param columns all of `Row`
 * @param conflict absent: an error
 * @returns inserts; with `ignore`, returns how many rows were new
 */
export function insertsMany<Row extends object>(
  table: keyof Tables,
  columns: ColumnTypes<Row>,
  conflict?: OnConflict,
): (db: Db, rows: readonly Row[]) => Promise<number> {
  const names = Object.keys(columns);
  const ending = conflict === undefined ? sql`` : endingOf(table, conflict);
  const into = sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})`;
  const insertOne = builtOnce((db, row: object) => {
    const values = valuesOf(names, row);
    return compilable(db, sql`${into} values (${sql.join(values)}) ${ending}`);
  });
  const insertAll = builtOnce((db, lists: Values) =>
    compilable(db, sql`${into} select * from unnest(${arraysOf(columns, lists)}) ${ending}`),
  );
  return async (db, rows) => {
    if (rows.length === 0) return 0;
    if (dialectOf(db) === 'postgres') return (await insertAll(db, listsOf(names, rows))).length;
    let returned = 0;
    for (const row of rows) returned += (await insertOne(db, row)).length;
    return returned;
  };
}

/**
 * Updates rows of a table that have the same keys as these.
 * @param columns all of `Row` @param keys those that find a row; the others get the values of `Row`
 */
export function updatesMany<Row extends object>(
  table: keyof Tables,
  columns: ColumnTypes<Row>,
  keys: readonly (keyof Row & string)[],
): (db: Db, rows: readonly Row[]) => Promise<void> {
  const isKey = new Set<string>(keys);
  const names = Object.keys(columns);
  const changing = names.filter((name) => !isKey.has(name));
  const update = sql`update ${sql.table(table)} set`;
  const updateOne = builtOnce((db, row: object) => {
    const equal = (columns: readonly string[]) => {
      const values = valuesOf(columns, row);
      return columns.map((name, index) => sql`${sql.ref(name)} = ${values[index]}`);
    };
    const [changes, found] = [equal(changing), equal(keys)];
    return compilable(db, sql`${update} ${sql.join(changes)} where ${sql.join(found, sql` and `)}`);
  });
  const updateAll = builtOnce((db, lists: Values) => {
    const changes = changing.map((name) => sql`${sql.ref(name)} = ${sql.ref(`given.${name}`)}`);
    const found = keys.map((name) => sql`${sql.ref(`${table}.${name}`)} = ${sql.ref(`given.${name}`)}`);
    const given = sql`unnest(${arraysOf(columns, lists)}) as given (${sql.join(names.map((name) => sql.ref(name)))})`;
    return compilable(
      db,
      sql`${update} ${sql.join(changes)} from ${given} where ${sql.join(found, sql` and `)}`,
    );
  });
  return async (db, rows) => {
    if (rows.length === 0) return;
    if (dialectOf(db) === 'postgres') await updateAll(db, listsOf(names, rows));
    else for (const row of rows) await updateOne(db, row);
  };
}

type Values = Readonly<Record<string, unknown>>;

function compilable(db: Db, statement: RawBuilder<unknown>): Compilable<unknown> {
  return { compile: () => statement.compile(db) };
}

function valuesOf(names: readonly string[], row: object): unknown[] {
  const members = new Map<string, unknown>(Object.entries(row));
  return names.map((name) => members.get(name));
}

/** The lists as arguments of `unnest`. */
function arraysOf(columns: object, lists: Values): RawBuilder<unknown> {
  return sql.join(
    Object.entries(columns).map(([name, type]) => sql`${lists[name]}::${sql.raw(`${type}`)}[]`),
  );
}

function endingOf(table: string, conflict: OnConflict): RawBuilder<unknown> {
  if (conflict === 'ignore') return sql`on conflict do nothing returning 1`;
  const { columns, appended = [], added = [], key, where } = conflict;
  const set = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
  const grow = appended.map(
    (column) =>
      sql`${sql.ref(column)} = ${sql.ref(`${table}.${column}`)} || ${sql.ref(`excluded.${column}`)}`,
  );
  const sums = added.map(
    (column) => sql`${sql.ref(column)} = ${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
  );
  const changes = [...set, ...grow, ...sums];
  const keys = sql.join((typeof key === 'string' ? [key] : key).map((column) => sql.ref(column)));
  const same =
    where === undefined
      ? sql``
      : sql`where ${sql.ref(`${table}.${where}`)} = ${sql.ref(`excluded.${where}`)}`;
  return sql`on conflict (${keys}) do update set ${sql.join(changes)} ${same}`;
}

/** The values of each column. */
function listsOf(names: readonly string[], rows: readonly object[]): Values {
  const lists = new Map<string, unknown[]>(names.map((name) => [name, []]));
  for (const row of rows)
    for (const [name, value] of Object.entries(row)) lists.get(name)?.push(value ?? null);
  return Object.fromEntries(lists);
}
