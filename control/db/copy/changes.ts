/**
 * Follows the changes of an SQLite database that is in use, so that a copy of it can catch up. Triggers note the key of
 * each row that is written; a round brings the rows of the noted keys to the copy, as they are then.
 */
import { sql } from 'kysely';
import type { Db } from '../tables.ts';
import { CopyDiffers, copyTable, reading } from './copy.ts';
import { continueIds, deleteRows, insertRows, RowsDigest, rowsWith, type Value } from './rows.ts';
import { type CopiedTable, tablesOf } from './schema.ts';

const changesTable = 'copy_changes';
const keysAtOnce = 500;

/** Notes every change from now on, for `copyChanges`; what was noted before is forgotten. */
export async function beginChanges(source: Db): Promise<void> {
  await source.transaction().execute(async (db) => {
    await dropTriggers(db);
    await sql`create table ${sql.table(changesTable)}
      (seq integer primary key autoincrement, name text not null, key text not null)`.execute(db);
    for (const table of await tablesOf(db)) {
      for (const event of ['insert', 'update', 'delete'] as const) await addTrigger(db, table, event);
    }
  });
}

/** Ends `beginChanges`, also that of a program that was killed. */
export async function endChanges(source: Db): Promise<void> {
  await source.transaction().execute(dropTriggers);
}

async function addTrigger(db: Db, table: CopiedTable, event: 'insert' | 'update' | 'delete'): Promise<void> {
  const note = (row: 'old' | 'new') => {
    const key = sql.join(table.key.map((name) => sql`${sql.raw(row)}.${sql.ref(name)}`));
    return sql`insert into ${sql.table(changesTable)} (name, key) values (${sql.lit(table.name)}, json_array(${key}));`;
  };
  const steps = { insert: [note('new')], update: [note('old'), note('new')], delete: [note('old')] }[event];
  await sql`create trigger ${sql.ref(`copy_${event}_${table.name}`)}
    after ${sql.raw(event)} on ${sql.table(table.name)} begin ${sql.join(steps, sql` `)} end`.execute(db);
}

async function dropTriggers(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from sqlite_master
    where type = 'trigger' and name like 'copy!_%' escape '!'`.execute(db);
  for (const { name } of rows) await sql`drop trigger ${sql.ref(name)}`.execute(db);
  await sql`drop table if exists ${sql.table(changesTable)}`.execute(db);
}

/**
 * Brings everything noted so far to the copy, in one transaction, and forgets it.
 * @returns how many rows were written or deleted
 * @throws CopyDiffers when what was written is not what was read
 */
export async function copyChanges(source: Db, copy: Db): Promise<number> {
  const round = await reading(source, async (snapshot) => {
    const { rows } = await sql<{ last: number | null }>`select max(seq) as last
      from ${sql.table(changesTable)}`.execute(snapshot);
    const last = rows[0]?.last ?? null;
    if (last === null) return null;
    const tables = await tablesOf(snapshot);
    const changed = await copy.transaction().execute((target) => bring(snapshot, target, tables));
    return { last, changed };
  });
  if (round === null) return 0;
  await sql`delete from ${sql.table(changesTable)} where seq <= ${round.last}`.execute(source);
  return round.changed;
}

/** All deletions first, those that refer to others before them: a new row may have a value that was unique to an old one. */
async function bring(source: Db, target: Db, tables: readonly CopiedTable[]): Promise<number> {
  let changed = 0;
  for (const table of tables.filter(hasKey).toReversed()) {
    for await (const { keys, rows } of noted(source, table)) {
      const present = new Set(rows.map((row) => keyText(table.key.map((name) => row[name] ?? null))));
      const gone = keys.filter((key) => !present.has(keyText(key)));
      await deleteRows(target, table, gone);
      changed += gone.length;
    }
  }
  for (const table of tables) {
    if (hasKey(table)) changed += await writeNoted(source, target, table);
    else if (await isNoted(source, table)) changed += await copyTable(source, target, table);
  }
  return changed;
}

async function writeNoted(source: Db, target: Db, table: CopiedTable): Promise<number> {
  let written = 0;
  for await (const { keys, rows } of noted(source, table)) {
    await insertRows(target, table, rows, 'replace');
    const [original, copied] = [new RowsDigest(table), new RowsDigest(table)];
    original.add(rows);
    copied.add(await rowsWith(target, table, keys));
    if (original.end() !== copied.end()) throw new CopyDiffers(table.name);
    written += rows.length;
  }
  if (written > 0) await continueIds(source, target, table);
  return written;
}

function hasKey(table: CopiedTable): boolean {
  return table.key.length > 0;
}

/** The noted keys of a table, each once, with the rows that they have now. */
async function* noted(db: Db, table: CopiedTable) {
  for (let after = ''; ; ) {
    const { rows: page } = await sql<{ key: string }>`select distinct key from ${sql.table(changesTable)}
      where name = ${table.name} and key > ${after} order by key limit ${sql.lit(keysAtOnce)}`.execute(db);
    const keys = page.map(({ key }): Value[] => JSON.parse(key));
    if (keys.length > 0) yield { keys, rows: await rowsWith(db, table, keys) };
    const last = page.at(-1);
    if (!last || page.length < keysAtOnce) return;
    after = last.key;
  }
}

async function isNoted(db: Db, table: CopiedTable): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(changesTable)}
    where name = ${table.name} limit 1`.execute(db);
  return rows.length > 0;
}

function keyText(key: readonly Value[]): string {
  return JSON.stringify(key);
}
