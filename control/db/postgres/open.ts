/** The PostgreSQL server behind the database. */

import type { Dialect } from 'kysely';
import pg from 'pg';
import type { Clock } from '#shared/clock.ts';
import { queryOn } from './connections.ts';
import { PooledPostgresDialect } from './dialect.ts';
import { ServerState } from './server-state.ts';
import { beginSession } from './session.ts';
import { lookAt, Unanswered } from './unanswered.ts';
import { unreachable } from './unreachable.ts';

/** How long a request waits for a connection, ms: of the server, or one that another request returns. */
const connectTimeoutMs = 10_000;

export interface Postgres {
  readonly dialect: Dialect;
  /** Its transactions share the writers' lock. It has the same connections; end them with the other. */
  readonly beside: Dialect;
  readonly storage: ServerState;
  state(): PoolState;
}

export interface PoolState {
  readonly open: number;
  /** Open connections that nobody uses. */
  readonly idle: number;
  /** Queries and transactions that wait for a connection. */
  readonly waiting: number;
}

/**
 * @param url postgres://user:password@host:port/database @param connections most that are open
 * @param answerMs time limit of each statement; null: none, as long as the server works on it
 */
export function openPostgres(
  url: string,
  clock: Clock,
  connections: number,
  answerMs: number | null = null,
): Postgres {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: answerMs ?? connectTimeoutMs,
    ...(answerMs !== null && { query_timeout: answerMs }),
    keepAlive: true,
    onConnect: beginSession,
    application_name: 'trunkline-control',
  });
  const storage = new ServerState({ query: (look) => queryOn(pool, look) }, clock);
  // An idle connection that breaks; the pool replaces it, and what fails next is noted with its statement.
  pool.on('error', (error) => storage.note(unreachable(error)));
  const failed = (error: unknown) => storage.note(error);
  const unanswered = answerMs === null ? new Unanswered(lookAt(url)) : null;
  return {
    dialect: new PooledPostgresDialect(pool, { failed, unanswered }),
    beside: new PooledPostgresDialect(pool, { failed, unanswered, order: 'shared' }),
    storage,
    state: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  };
}
