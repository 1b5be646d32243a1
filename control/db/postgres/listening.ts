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

/** Of stored messages, whose notifications have no content. */
const channel = 'trunkline';
/** Of messages that are nowhere but in their notification. */
const transientChannel = 'trunkline_transient';

export interface Heard {
  /** Something was stored, or may have been while the connection was not open. */
  stored(): void;
  transient(payload: string): void;
  /** The connection is open, for the first time or again: transient messages may have been missed. */
  opened(): void;
}

export interface Listening {
  /** Statements on the connection; no transactions. */
  readonly db: Db;
  /** Whether the connection is open and listens. */
  readonly isOpen: boolean;
  /** The address of this machine on it; null: not open, or no network connection. */
  readonly localAddress: string | null;
  /**
   * Notifies all that listen of a transient message. When it resolves, this connection has heard what was notified
   * before, itself included: notifications have one order for all.
   */
  notify(payload: string): Promise<void>;
  close(): Promise<void>;
}

export function listenOn(url: string, heard: Heard): Listening {
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
    client.on('notification', ({ channel: of, payload }) => {
      if (of === transientChannel) heard.transient(payload ?? '');
      else heard.stored();
    });
    // Without a listener, a server that ends the connection would end the program.
    client.on('error', () => undefined);
    client.once('end', () => {
      if (open === client) open = null;
    });
    // Nothing is stored through this connection, so no commit on it has to wait for the disk.
    client.query(`set synchronous_commit = off; listen ${channel}; listen ${transientChannel}`).then(
      () => {
        open = client;
        heard.stored();
        heard.opened();
      },
      // What follows on the connection fails too, and the pool replaces it.
      () => undefined,
    );
  });
  const db = new Kysely<Tables>({ dialect: new PooledPostgresDialect(pool, { order: 'unordered' }) });
  return {
    db,
    get isOpen() {
      return open !== null;
    },
    get localAddress() {
      return open === null ? null : addressOf(open);
    },
    notify: async (payload) => {
      await sql`select pg_notify(${sql.lit(transientChannel)}, ${payload})`.execute(db);
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
