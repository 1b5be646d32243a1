/**
 * A connection of its own that hears what other programs notify (LISTEN/NOTIFY). When it breaks, the next
 * statement opens another one.
 * https://www.postgresql.org/docs/15/sql-listen.html
 */
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { dialectOf } from '../dialect-name.ts';
import type { Db, Tables } from '../tables.ts';
import { PooledPostgresDialect } from './dialect.ts';

/** A server that takes longer counts as unreachable: another connection is opened. */
const answerTimeoutMs = 2_500;

const channel = 'trunkline';

export interface Listening {
  /** Statements on the connection; no transactions. */
  readonly db: Db;
  /** Whether the connection is open and listens. */
  readonly isOpen: boolean;
  /** The address of this machine on it; null: not open, or no network connection. */
  readonly localAddress: string | null;
  close(): Promise<void>;
}

/**
 * @param heard called when something was notified, and whenever the connection was opened: before that, something may
 * have been
 */
export function listenOn(url: string, heard: () => void): Listening {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    application_name: 'trunkline-control-listening',
  });
  let open: pg.PoolClient | null = null;
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('notification', () => heard());
    // Without a listener, a server that ends the connection would end the program.
    client.on('error', () => undefined);
    client.once('end', () => {
      if (open === client) open = null;
    });
    client.query(`listen ${channel}`).then(
      () => {
        open = client;
        heard();
      },
      // What follows on the connection fails too, and the pool replaces it.
      () => undefined,
    );
  });
  const db = new Kysely<Tables>({ dialect: new PooledPostgresDialect(pool, undefined, 'unordered') });
  return {
    db,
    get isOpen() {
      return open !== null;
    },
    get localAddress() {
      return open === null ? null : addressOf(open);
    },
    close: () => db.destroy(),
  };
}

function addressOf(client: pg.PoolClient): string | null {
  const { stream } = client.connection;
  return 'localAddress' in stream && typeof stream.localAddress === 'string' ? stream.localAddress : null;
}

/** Wakes all who listen, after the commit of the transaction; does nothing on SQLite, where nobody can. */
export async function wakeListeners(db: Db): Promise<void> {
  if (dialectOf(db) === 'postgres') await sql`select pg_notify(${sql.lit(channel)}, '')`.execute(db);
}
