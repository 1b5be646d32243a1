/** Opens the control plane's database and migrates it to the newest schema. */
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { type Clock, systemClock } from '#shared/clock.ts';
import { namedPath, namingPath, type StorageFault } from '#shared/storage-fault.ts';
import { KeptStatementsDialect } from './dialect.ts';
import { migrations } from './migrations/index.ts';
import { StorageState } from './storage.ts';
import type { Db, Tables } from './tables.ts';

export interface Database {
  readonly db: Db;
  /**
   * Runs `work` synchronously on the bare connection while no query or transaction of `db` is running. For the hot path
   * of reports, where prepared statements are several times as fast as built queries.
   */
  exclusive<T>(work: (connection: SqliteFile.Database) => T): Promise<T>;
  /** Why nothing can be written; null: writing works. A failed write is retried, at most once a second. */
  storageFault(): Promise<StorageFault | null>;
  /** Statements that failed because the disk is full or broken. */
  readonly storageFailures: number;
  close(): Promise<void>;
}

/**
 * @param file path of the SQLite file, created when missing, or `:memory:`
 * @throws Error when the file cannot be opened, or a migration fails: see its cause
 */
export async function openDatabase(file: string, clock: Clock = systemClock): Promise<Database> {
  const connection = namingPath(file, () => connect(file));
  // In-memory databases start empty, so all of one process can start from the first one's state after its migrations.
  const fresh = file === ':memory:' && emptyInMemory === null;
  const storage = new StorageState(connection, clock);
  const db = new Kysely<Tables>({
    dialect: new KeptStatementsDialect(connection),
    log: (event) => {
      if (event.level === 'error') storage.note(event.error);
    },
  });
  try {
    await migrate(db, migrations);
  } catch (error) {
    await db.destroy();
    throw namedPath(file, error);
  }
  if (fresh) emptyInMemory = connection.serialize();
  return {
    db,
    // Kysely lends its one connection to one user at a time, who may use it directly.
    exclusive: (work) =>
      db.connection().execute(async () => {
        try {
          return work(connection);
        } catch (error) {
          storage.note(error);
          throw error;
        }
      }),
    storageFault: () => db.connection().execute(async () => storage.read()),
    get storageFailures() {
      return storage.failures;
    },
    close: () => db.destroy(),
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

/** A database newer than this version of the program; the message says what to do. */
export class DatabaseTooNew extends Error {}

/**
 * Applies the missing migrations of `all`, by name, and records them.
 * @throws DatabaseTooNew when the database has migrations that are not in `all`
 */
export async function migrate<T>(db: Kysely<T>, all: Readonly<Record<string, Migration>>): Promise<void> {
  const unknown = (await appliedMigrations(db)).filter((name) => !Object.hasOwn(all, name));
  if (unknown.length > 0) {
    throw new DatabaseTooNew(
      `The database was made by a newer version of the program (${unknown.join(', ')} is not known here). ` +
        'Run that version, or restore a backup from before the upgrade: migrations go forward only.',
    );
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...all }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error')?.migrationName ?? 'reading the schema';
  throw new Error(`Database migration failed at ${failed}`, { cause: error });
}

/** Empty for a database without a schema. */
async function appliedMigrations<T>(db: Kysely<T>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map((row) => row.name);
}
