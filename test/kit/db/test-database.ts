/**
 * Databases of tests: in memory, or on the PostgreSQL server of the project `postgres`, where every test of control runs
 * a second time.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { inject } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { type Database, openDatabase } from '../../../control/db/open.ts';
import { isLong } from '../is-long.ts';
import { writeEmptyFile } from './empty-file.ts';
import { keepConnections } from './kept-connections.ts';

/** At the newest schema, without rows. */
export const templateName = 'trunkline_template';

/** Null: SQLite. */
const postgres: string | null = process.env.TRUNKLINE_TEST_POSTGRES === 'true' ? inject('postgres') : null;

/** For tests of what only SQLite has: files, pragmas, query plans. */
export const onSqlite = postgres === null;

/** For costly tests of what no database decides, in a file that runs on both: on PostgreSQL in `npm run test-long` only. */
export const onceIsEnough = onSqlite || isLong;

/** Enough for two at a time and a transaction; each takes the server longer to open than most tests run. */
export const testConnections = 3;

export interface TestDatabase {
  /** For DATABASE_URL. */
  readonly address: string;
  /** Once nobody uses it. */
  release(): Promise<void>;
}

/** An empty database; on SQLite in memory, or in a new file for tests that open it twice. */
export async function takeDatabase(file = ':memory:'): Promise<TestDatabase> {
  if (postgres === null) {
    if (file !== ':memory:') await writeEmptyFile(file);
    return { address: file, release: async () => undefined };
  }
  const name = free.pop() ?? (await createDatabase(postgres));
  const address = addressOf(postgres, name);
  if (addresses.size === 0) keepConnections(addresses);
  addresses.add(address);
  return {
    address,
    release: async () => {
      await emptied(address);
      free.push(name);
    },
  };
}

/** Opens an empty database; closing it releases it. */
export async function openTestDatabase(clock?: Clock): Promise<Database> {
  const { address, release } = await takeDatabase();
  const database = await openDatabase(address, clock, { limits: { connections: testConnections } });
  return {
    ...database,
    get storageFailures() {
      return database.storageFailures;
    },
    close: async () => {
      await database.close();
      await release();
    },
  };
}

/** Databases of this process that no test uses: emptying one takes less time than creating one. */
const free: string[] = [];
/** Of all databases of this process. */
const addresses = new Set<string>();
let created = 0;

async function createDatabase(server: string): Promise<string> {
  const name = `trunkline_${process.pid}_${++created}`;
  await onServer(server, async (client) => {
    for (;;) {
      try {
        await client.query(`create database ${name} template ${templateName} strategy file_copy`);
        return;
      } catch (error) {
        // Another process is copying the template.
        if (!(error instanceof pg.DatabaseError) || error.code !== '55006') throw error;
        await wait(20);
      }
    }
  });
  return name;
}

function addressOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

interface Cleaner {
  readonly client: pg.Client;
  /** Names the tables that have rows; prepared, because to plan it takes the server longer than all the rest. */
  readonly filled: pg.QueryConfig;
}

/** Connections that empty databases, by address; a new one for each test takes longer than the emptying. */
const cleaners = new Map<string, Cleaner>();

async function cleanerOf(address: string): Promise<Cleaner> {
  const known = cleaners.get(address);
  if (known) return known;
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  // The server ends before this process does.
  client.on('error', () => cleaners.delete(address));
  await client.query(`set session_replication_role = replica`);
  const { rows } = await client.query<{ name: string }>(
    // A partition may come and go; its table has its rows.
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition and relname not like 'kysely%'`,
  );
  const each = rows.map(({ name }) => `select '${name}' as name where exists (select from "${name}")`);
  const cleaner = { client, filled: { name: 'filled', text: each.join(' union all ') } };
  cleaners.set(address, cleaner);
  return cleaner;
}

/** What a running control plane holds; the first it wrote when it started. */
const ofControl = ['counters', 'edge_config_items', 'leases', 'recording_keys', 'replica_messages'];

/**
 * Deletes all rows under a running control plane, except what it holds itself: it is as after its start, without
 * organizations. Nothing may be at work.
 */
export async function emptyUnderControl(database: Database, address: string): Promise<void> {
  const settings = `delete from edge_config_items where kind <> 'settings'`;
  if (postgres !== null) {
    const { client, filled } = await cleanerOf(address);
    const { rows } = await client.query<{ name: string }>(filled);
    const others = rows.filter(({ name }) => !ofControl.includes(name));
    const all = [settings, ...others.map(({ name }) => `delete from "${name}"`)].join('; ');
    // What control does by its clock may hold rows of two tables in another order: then it has them first.
    for (;;) {
      const isDeadlock = await client.query(all).then(
        () => false,
        (error: unknown) => {
          if (error instanceof pg.DatabaseError && error.code === '40P01') return true;
          throw error;
        },
      );
      if (!isDeadlock) return;
    }
  }
  await database.db.transaction().execute(async (db) => {
    await sql`pragma defer_foreign_keys = on`.execute(db);
    tablesOfSqlite ??= (await db.introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !ofControl.includes(name) && !name.startsWith('transcript_words'));
    const each = tablesOfSqlite.map(
      (name) => `select '${name}' as name where exists (select 1 from "${name}")`,
    );
    const filled = sql.raw<{ name: string }>(each.join(' union all '));
    await sql.raw(settings).execute(db);
    // Triggers may fill a table that was emptied before.
    for (let { rows } = await filled.execute(db); rows.length > 0; { rows } = await filled.execute(db)) {
      for (const { name } of rows) await sql`delete from ${sql.table(name)}`.execute(db);
    }
  });
}

let tablesOfSqlite: readonly string[] | undefined;

/** Deletes all rows, and lets generated ids start at 1 again. */
async function emptied(address: string): Promise<void> {
  const { client, filled } = await cleanerOf(address);
  const tables = await client.query<{ name: string }>(filled);
  const sequences = await client.query<{ name: string }>({
    name: 'used',
    text: 'select sequencename as name from pg_sequences where last_value is not null',
  });
  const work = [
    ...tables.rows.map(({ name }) => `delete from "${name}"`),
    ...sequences.rows.map(({ name }) => `alter sequence "${name}" restart`),
  ];
  if (work.length > 0) await client.query(work.join('; '));
}

async function onServer(address: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Waits until no query is running, and none follows in the same turns: what a moved clock has started is done. */
export async function databaseQuiet(database: Database): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let quiet = 0; quiet < 3; ) {
    const state = database.connections();
    if (state === null) await database.db.connection().execute(async () => undefined);
    const isQuiet = state === null || (state.idle === state.open && state.waiting === 0);
    quiet = isQuiet ? quiet + 1 : 0;
    // A loop without a pause would take the CPU from the server that is waited for.
    await (isQuiet ? turn() : wait(1));
  }
}
