/** The driver behind a database, for tests that look at query plans or break the file. */
import type SqliteFile from 'better-sqlite3';
import { SqliteConnection } from '../../../control/db/sqlite/dialect.ts';
import type { Db } from '../../../control/db/tables.ts';

/** Runs `work` while no query or transaction of `db` is running. */
export function onDriver<T>(db: Db, work: (file: SqliteFile.Database) => T): Promise<T> {
  return db.getExecutor().provideConnection(async (connection) => {
    if (!(connection instanceof SqliteConnection)) throw new Error('This test needs SQLite.');
    return work(connection.file);
  });
}

/** The steps of a query's plan. @param parameters null for any value */
export function planOf(db: Db, sql: string, parameters: readonly unknown[]): Promise<string[]> {
  return onDriver(db, (file) =>
    file
      .prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
      .all(...parameters)
      .map(({ detail }) => detail),
  );
}
