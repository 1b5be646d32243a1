/**
 * Opens the control plane's database and migrates it to the newest schema.
 *
 * Areas reach it through Kysely alone; only `sqlite/` and `postgres/` know a driver. Building a query takes Kysely longer than SQLite
 * takes to run most, so the queries of every request and report are built once (built-once.ts), and every text is
 * prepared once (sqlite/statements.ts). There is no second way for the reports of the edges, of which thousands arrive
 * per second: a frame is one transaction of built queries, in every dialect.
 */
import { Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { type Clock, systemClock } from '#shared/clock.ts';
import { SettingError } from '#shared/settings/reader.ts';
import { namedPath, type StorageFault } from '#shared/storage-fault.ts';
import { isServer, shownAddress } from './address.ts';
import { dialectOf } from './dialect-name.ts';
import { hasTable } from './has-table.ts';
import { type DatabaseLimits, databaseLimits } from './limits.ts';
import { migrations } from './migrations/index.ts';
import type { Heard, Listening } from './postgres/listening.ts';
import type { PoolState } from './postgres/open.ts';
import { ofServer } from './postgres/words.ts';
import { type Difference, whyUnusable } from './releases.ts';
import type { SyncLog } from './sqlite/durability.ts';
import { openSqlite } from './sqlite/open.ts';
import type { Db, Tables } from './tables.ts';
import { readUnmigrated } from './unmigrated.ts';

export interface Database {
  readonly db: Db;
  /**
   * For transactions that may write beside others of their kind, though not beside those of `db`: what they read and
   * write concerns nobody else, and they publish nothing to replicas. On SQLite the same as `db`.
   */
  readonly beside: Db;
  /**
   * For statements that must not wait for writers, such as the renewal of leases: on PostgreSQL a connection of its own.
   * No transactions.
   */
  readonly apart: Db;
  /** Why nothing can be written; null: writing works. A failed write is retried, at most once a second. */
  storageFault(): Promise<StorageFault | null>;
  /** Statements that failed because the disk is full or broken. */
  readonly storageFailures: number;
  /**
   * Resolves when every commit before the call survives a loss of power. Await it before you tell somebody else that
   * something is stored.
   * @throws Error with the code of a storage fault
   */
  durable(): Promise<void>;
  /** Also makes everything durable. @throws Error as `durable` */
  /** Of the pool; null: SQLite has one connection, and no queue outside of the program. */
  connections(): PoolState | null;
  /** Running background work, for a fault report; null on a server, which a crashing program cannot wait for. */
  workUnderWay(): unknown[] | null;
  /**
   * Hears what other replicas notify, until it is closed. Null: an SQLite file has one control plane, and what a command
   * line writes is read now and then.
   */
  listen(heard: Heard): Listening | null;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly limits?: Pick<DatabaseLimits, 'connections'>;
  /** Replaces fdatasync; for tests. */
  readonly sync?: SyncLog | undefined;
  /** Called before a database of an earlier version is migrated, with the names of the migrations. */
  readonly migrating?: Migrating;
}

type Migrating = (missing: readonly string[]) => void;

/**
 * @param address of a PostgreSQL database, or path of an SQLite file, created when missing, or `:memory:`
 * @throws Error when the database cannot be opened, or a migration fails: see its cause; SettingError when it is unfit
 */
export function openDatabase(
  address: string,
  clock: Clock = systemClock,
  { limits = databaseLimits, sync, migrating }: OpenOptions = {},
): Promise<Database> {
  return isServer(address)
    ? openServer(address, clock, limits, migrating)
    : openFile(address, clock, sync, migrating);
}

async function openServer(
  url: string,
  clock: Clock,
  limits: Pick<DatabaseLimits, 'connections'>,
  migrating: Migrating | undefined,
): Promise<Database> {
  // Loaded only where there is a server: the client takes memory.
  const [{ openPostgres }, { listenOn }] = await Promise.all([
    import('./postgres/open.ts'),
    import('./postgres/listening.ts'),
  ]);
  const { dialect, beside, storage, state } = openPostgres(url, clock, limits.connections);
  const db = new Kysely<Tables>({ dialect });
  // An answer that comes after a lease has expired is of no use to it.
  const apart = new Kysely<Tables>({ dialect: openPostgres(url, clock, 1, databaseLimits.leaseMs).dialect });
  try {
    await refuseEncoding(db, url);
    await migrate(db, migrations, migrating);
  } catch (error) {
    await db.destroy();
    if (error instanceof SettingError) throw error;
    const failure = new Error(`The database at ${shownAddress(url)} cannot be used`, { cause: error });
    throw ofServer(failure, shownAddress(url));
  }
  return {
    db,
    beside: new Kysely<Tables>({ dialect: beside }),
    apart,
    storageFault: () => storage.read(),
    get storageFailures() {
      return storage.failures;
    },
    connections: state,
    workUnderWay: () => null,
    // A commit is durable itself (synchronous_commit).
    durable: async () => undefined,
    listen: (heard) => listenOn(url, heard),
    close: async () => {
      await apart.destroy();
      await db.destroy();
    },
  };
}

/** @throws SettingError for an empty database that cannot hold all text: it would reject some requests and reports for good */
async function refuseEncoding(db: Db, url: string): Promise<void> {
  if (await hasTable(db, 'organizations')) return;
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db);
  const encoding = rows[0]?.server_encoding;
  if (encoding === undefined || encoding === 'UTF8') return;
  throw new SettingError(
    `The database at ${shownAddress(url)} has the encoding ${encoding}, which cannot hold all text. ` +
      "Create it again with: ENCODING 'UTF8' TEMPLATE template0",
  );
}

async function openFile(
  file: string,
  clock: Clock,
  sync: SyncLog | undefined,
  migrating: Migrating | undefined,
): Promise<Database> {
  const { dialect, storage, durability, workUnderWay, migrated } = openSqlite(file, clock, sync);
  const db = new Kysely<Tables>({ dialect });
  try {
    await migrate(db, migrations, migrating);
  } catch (error) {
    await db.destroy();
    throw namedPath(file, error);
  }
  migrated();
  return {
    db,
    beside: db,
    apart: db,
    // Kysely lends its one connection to one user at a time.
    storageFault: () => db.connection().execute(async () => storage.read()),
    get storageFailures() {
      return storage.failures;
    },
    connections: () => null,
    workUnderWay,
    durable: async () => durability?.durable(),
    listen: () => null,
    close: async () => {
      try {
        await durability?.durable();
      } finally {
        await db.destroy();
        await durability?.close();
      }
    },
  };
}

/** Whether a database exists and has exactly this version's schema; it is not migrated. */
export async function isCurrent(address: string): Promise<boolean> {
  const state = await schemaState(address);
  return state !== null && state.missing.length === 0 && state.unknown.length === 0;
}

export interface SchemaState extends Difference {
  /** Why this version cannot use the newer database; null: it can. */
  readonly unusable: string | null;
}

/** How the schema of an existing database differs from this version's; it is not migrated. Null: it has no schema. */
export async function schemaState(address: string): Promise<SchemaState | null> {
  const applied = await readUnmigrated(address, appliedMigrations);
  if (applied === null) return null;
  const difference = differenceOf(applied, migrations);
  return { ...difference, unusable: whyUnusable(difference, isServer(address)) };
}

function differenceOf(applied: readonly string[], known: object): Difference {
  return {
    missing: Object.keys(known).filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !Object.hasOwn(known, name)),
  };
}

/** A database newer than this version of the program; the message says what to do. */
export class DatabaseTooNew extends Error {}

/**
 * Applies the missing migrations of `all`, by name, and records them.
 * @throws DatabaseTooNew when the database has migrations that are not in `all`, and cannot be used without them
 */
export async function migrate<T>(
  db: Kysely<T>,
  all: Readonly<Record<string, Migration>>,
  migrating?: Migrating,
): Promise<void> {
  const applied = await appliedMigrations(db);
  const difference = differenceOf(applied, all);
  const why = whyUnusable(difference, dialectOf(db) !== 'sqlite');
  if (why !== null) {
    throw new DatabaseTooNew(
      `The database was made by a newer version of the program (${why}). ` +
        'Run that version, or restore a backup from before the upgrade: migrations go forward only.',
    );
  }
  // What the migrator reads from the schema takes longer than all else of a start.
  if (difference.missing.length === 0) return;
  if (applied.length > 0) migrating?.(difference.missing);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...all }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error')?.migrationName ?? 'reading the schema';
  throw new Error(`Database migration failed at ${failed}`, { cause: error });
}

/** Empty for a database without a schema. */
async function appliedMigrations<T>(db: Kysely<T>): Promise<string[]> {
  if (!(await hasTable(db, DEFAULT_MIGRATION_TABLE))) return [];
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map((row) => row.name);
}
