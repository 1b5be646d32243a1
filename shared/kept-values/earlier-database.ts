/** Kept values that an earlier version had in an SQLite database. */
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { pathExists } from '../path-exists.ts';
import { namingPath, storageFault } from '../storage-fault.ts';
import { KeptValues, type KeptValuesOptions } from './kept-values.ts';

/** Reads the rows of a table as values by key. */
export type ReadTable<T> = (db: Database.Database) => readonly (readonly [key: string, value: T])[];

export interface EarlierOptions<T> extends Pick<KeptValuesOptions<T>, 'shape' | 'failed'> {
  /** By the name of the table. A database may have none of them: an earlier version was ended while it made it. */
  readonly tables: Readonly<Record<string, ReadTable<T>>>;
}

/**
 * Opens `<path>.journal`. A `<path>.db` was written by an earlier version after all that is in the journal, so it takes
 * the place of that, and is removed once the journal has it: at a full disk, with the first write that succeeds.
 * @throws Error when one of them cannot be read
 */
export async function openKeptValues<T>(path: string, options: EarlierOptions<T>): Promise<KeptValues<T>> {
  const { shape, failed, tables } = options;
  const database = `${path}.db`;
  let isLeft = pathExists(database);
  const remove = () => {
    if (!isLeft) return;
    isLeft = false;
    try {
      for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true });
    } catch (error) {
      failed(storageFault(error) ?? 'failing');
    }
  };
  const values = new KeptValues<T>({ path: `${path}.journal`, shape, failed, written: remove });
  if (!isLeft) return values;
  const earlier = new Map(namingPath(database, () => rowsOf(database, tables)));
  for (const key of [...values.keys()]) if (!earlier.has(key)) values.delete(key);
  for (const [key, value] of earlier) values.set(key, value);
  await values.written();
  if (values.pending === 0) remove();
  return values;
}

function rowsOf<T>(path: string, tables: EarlierOptions<T>['tables']): (readonly [string, T])[] {
  const db = new Database(path);
  try {
    const known = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all();
    return Object.entries(tables).flatMap(([table, read]) => (known.includes(table) ? read(db) : []));
  } finally {
    db.close();
  }
}
