/** One row in every table of a database, whatever its schema; for tests of migrations. */
import type SqliteFile from 'better-sqlite3';

/** By table, in the order in which they were stored. */
export type StoredRows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
}

/** Texts of columns that need specific content: JSON that a migration reads. */
const texts: Readonly<Record<string, string>> = {
  nodes: '[{"id":"a","type":"Transfer Pathway","data":{"transferPathwayId":"p"}}]',
  edges: '[]',
  media: '{"mos":3.5}',
};

/** Tables of the database, except those of the migrations themselves and of a search index. */
function tablesOf(file: SqliteFile.Database): { name: string; sql: string }[] {
  return file
    .prepare<[], { name: string; sql: string }>(
      `select name, sql from sqlite_master where type = 'table'
       and name in (select name from pragma_table_list where type = 'table')
       and name not like 'sqlite_%' and name not like 'kysely_%' order by rowid`,
    )
    .all();
}

/** Every row of every table. */
export function storedRows(file: SqliteFile.Database): StoredRows {
  return Object.fromEntries(
    tablesOf(file).map(({ name }) => [
      name,
      file.prepare<[], Record<string, unknown>>(`select * from "${name}" order by 1, 2`).all(),
    ]),
  );
}

/** Inserts one row into each table that has none; references point to the row of the other table. */
export function fillTables(file: SqliteFile.Database): void {
  for (const table of tablesOf(file)) {
    const columns = file.pragma(`table_info("${table.name}")`) as Column[];
    const references = file.pragma(`foreign_key_list("${table.name}")`) as Reference[];
    const row = columns.map((column) => {
      const target = references.find((one) => one.from === column.name);
      return target ? referred(file, target) : valueFor(table, column);
    });
    const marks = columns.map(() => '?').join(', ');
    file.prepare(`insert into "${table.name}" values (${marks})`).run(row);
  }
}

/** A column that refers to one of another table; `to` is null where it is the primary key. */
interface Reference {
  readonly from: string;
  readonly table: string;
  readonly to: string | null;
}

function referred(file: SqliteFile.Database, { table, to }: Reference): unknown {
  return file
    .prepare(`select "${to ?? 'id'}" from "${table}"`)
    .pluck()
    .get();
}

function valueFor(table: { name: string; sql: string }, { name, type }: Column): string | number | Buffer {
  if (type.toLowerCase() === 'integer') return 1;
  if (type.toLowerCase() === 'real') return 1.5;
  if (type.toLowerCase() === 'blob') return Buffer.from([1, 2, 3]);
  return textFor(table.name, name, table.sql);
}

/** A text that the column's check allows, if it has one. */
function textFor(table: string, column: string, sql: string): string {
  const [, allowed] = new RegExp(`\\b${column} in \\('([^']*)'`).exec(sql) ?? [];
  return allowed ?? texts[column] ?? `${column} of ${table}`;
}
