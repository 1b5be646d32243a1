/** Takes over the values that an earlier version kept in an SQLite database. */
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { pathExists } from '../path-exists.ts';
import { namingPath } from '../storage-fault.ts';

/** The values, and what removes the database once they are elsewhere. */
export interface EarlierValues<R> {
  readonly rows: readonly R[];
  readonly remove: () => void;
}

/**
 * Null: there is no database. One that is there was written last by an earlier version, so it has the newest values.
 * @throws Error when it cannot be read
 */
export function earlierValues<R>(
  path: string,
  read: (db: Database.Database) => readonly R[],
): EarlierValues<R> | null {
  if (!pathExists(path)) return null;
  const rows = namingPath(path, () => {
    const db = new Database(path);
    try {
      return read(db);
    } finally {
      db.close();
    }
  });
  return {
    rows,
    remove: () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    },
  };
}
