/** The tables of the newest schema, as a copy needs to know them. Both dialects have the same tables and columns. */
import { sql } from 'kysely';
import type { Db } from '../tables.ts';

export interface CopiedTable {
  readonly name: string;
  /** Those that are stored: a generated column follows from the others. */
  readonly columns: readonly string[];
  /** Columns of the primary key; empty for a table without one. */
  readonly key: readonly string[];
  /** The column whose value the database generates, counting on from the last one ever used; null: none. */
  readonly generated: string | null;
}

/** Its rows are written by triggers on another table, so it is copied after that. */
const countedByTriggers = 'test_run_counts';

/**
 * All tables except those of the migrations and of a search index, which triggers fill; a referenced one before those that refer to it.
 * @param db an SQLite database at the newest schema
 */
export async function tablesOf(db: Db): Promise<CopiedTable[]> {
  const { rows } = await sql<{ name: string; text: string }>`select name, sql as text from sqlite_master
    where type = 'table' and name in (select name from pragma_table_list where type = 'table')
    and name not like 'sqlite_%' and name not like 'kysely_%' and name not like 'copy!_%' escape '!'
    order by name = ${countedByTriggers}, rowid`.execute(db);
  const tables = new Map<string, CopiedTable>();
  const references = new Map<string, string[]>();
  for (const { name, text } of rows) {
    tables.set(name, await tableOf(db, name, text));
    references.set(name, await referencesOf(db, name));
  }
  return inOrder(tables, references);
}

async function tableOf(db: Db, name: string, text: string): Promise<CopiedTable> {
  const { rows } = await sql<{ name: string; pk: number; hidden: number }>`select name, pk, hidden
    from pragma_table_xinfo(${name}) order by cid`.execute(db);
  const inKey = rows.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return {
    name,
    columns: rows.filter(({ hidden }) => hidden === 0).map((column) => column.name),
    key: inKey.map((column) => column.name),
    generated: /\bautoincrement\b/i.test(text) ? (inKey[0]?.name ?? null) : null,
  };
}

async function referencesOf(db: Db, name: string): Promise<string[]> {
  const { rows } = await sql<{ target: string }>`select distinct "table" as target
    from pragma_foreign_key_list(${name})`.execute(db);
  return rows.map(({ target }) => target);
}

function inOrder(
  tables: ReadonlyMap<string, CopiedTable>,
  references: ReadonlyMap<string, readonly string[]>,
): CopiedTable[] {
  const ordered = new Map<string, CopiedTable>();
  const place = (table: CopiedTable) => {
    if (ordered.has(table.name)) return;
    for (const target of references.get(table.name) ?? []) {
      const referred = tables.get(target);
      if (referred && referred !== table) place(referred);
    }
    ordered.set(table.name, table);
  };
  for (const table of tables.values()) place(table);
  return [...ordered.values()];
}
