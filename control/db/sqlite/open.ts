/** The SQLite file behind the database. */
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteFile from 'better-sqlite3';
import type { Dialect } from 'kysely';
import type { Clock } from '#shared/clock.ts';
import { namingPath } from '#shared/storage-fault.ts';
import { KeptStatementsDialect } from './dialect.ts';
import { StorageState } from './storage.ts';

export interface Sqlite {
  readonly dialect: Dialect;
  readonly storage: StorageState;
  /** To call once the newest schema is there. */
  migrated(): void;
}

/** @param file path, created when missing, or `:memory:` @throws Error when the file cannot be opened */
export function openSqlite(file: string, clock: Clock): Sqlite {
  const connection = namingPath(file, () => connect(file));
  // In-memory databases start empty, so all of one process can start from the first one's state after its migrations.
  const fresh = file === ':memory:' && emptyInMemory === null;
  const storage = new StorageState(connection, clock);
  return {
    dialect: new KeptStatementsDialect(connection, (error) => storage.note(error)),
    storage,
    migrated: () => {
      if (fresh) emptyInMemory = connection.serialize();
    },
  };
}

/** A database without rows at the newest schema. */
let emptyInMemory: Buffer | null = null;

function connect(file: string): SqliteFile.Database {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const begin = file === ':memory:' && emptyInMemory !== null ? emptyInMemory : file;
  const connection = new SqliteFile(begin, { timeout: 5000 });
  if (file !== ':memory:') chmodSync(file, 0o600);
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = NORMAL');
  connection.pragma('foreign_keys = ON');
  return connection;
}
