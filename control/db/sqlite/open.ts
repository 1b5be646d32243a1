/** The SQLite file behind the database. */
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteFile from 'better-sqlite3';
import type { Dialect } from 'kysely';
import type { Clock } from '#shared/clock.ts';
import { namingPath } from '#shared/storage-fault.ts';
import { KeptStatementsDialect } from './dialect.ts';
import { Durability, type SyncLog } from './durability.ts';
import { FilesInPlace } from './in-place.ts';
import { StorageState } from './storage.ts';
import { workUnderWay } from './work-report.ts';

export interface Sqlite {
  readonly dialect: Dialect;
  readonly storage: StorageState;
  /** null: a commit needs no sync of its own. */
  readonly durability: Durability | null;
  /** Running background work, for a fault report. */
  workUnderWay(): unknown[];
  /** To call once the newest schema is there. */
  migrated(): void;
}

/** @param file path, created when missing, or `:memory:` @throws Error when the file cannot be opened */
export function openSqlite(file: string, clock: Clock, sync?: SyncLog): Sqlite {
  const connection = namingPath(file, () => connect(file));
  // In-memory databases start empty, so all of one process can start from the first one's state after its migrations.
  const fresh = file === ':memory:' && emptyInMemory === null;
  const inPlace = inWal(connection) ? new FilesInPlace(file) : null;
  const storage = new StorageState(connection, clock, inPlace);
  const durability = inPlace && new Durability(file, inPlace, (error) => storage.noteForGood(error), sync);
  return {
    dialect: new KeptStatementsDialect(connection, {
      failed: (error) => storage.note(error),
      committed: () => durability?.committed(),
    }),
    storage,
    durability,
    workUnderWay: () => workUnderWay(file),
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
  // A file system without shared memory has no write-ahead log: there each commit is synced.
  connection.pragma(`synchronous = ${inWal(connection) ? 'NORMAL' : 'FULL'}`);
  // Moves what an earlier process committed into the database file, and syncs it: where a sync failed, a later one of
  // the log would say nothing about it.
  if (inWal(connection)) connection.pragma('wal_checkpoint(PASSIVE)');
  connection.pragma('foreign_keys = ON');
  return connection;
}

/** Not in memory. */
function inWal(connection: SqliteFile.Database): boolean {
  return connection.pragma('journal_mode', { simple: true }) === 'wal';
}
