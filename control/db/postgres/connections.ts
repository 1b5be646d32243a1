/**
 * Connections of a pool to a server that gives no more of them: `max_connections`, or the CONNECTION LIMIT of a user or
 * a database. What waits for one gets that which another query returns, as if the pool had no more.
 */
import pg from 'pg';
import { type Clock, systemClock } from '#shared/clock.ts';

/** https://www.postgresql.org/docs/15/errcodes-appendix.html: too_many_connections */
const refusedCode = '53300';
/** How long a server that refused a connection is not asked for more, ms. */
const contentMs = 30_000;

type Pool = Pick<pg.Pool, 'connect' | 'totalCount' | 'options'>;

interface Refused {
  /** Most connections that the pool may open. */
  readonly most: number;
  readonly until: number;
}

const refused = new WeakMap<Pool, Refused>();

/** @throws Error also when the server refuses the first connection, or no query returns one within the pool's limit */
export async function connectionOf(pool: Pool, clock: Clock = systemClock): Promise<pg.PoolClient> {
  const before = refused.get(pool);
  if (before && clock.elapsed() >= before.until) {
    pool.options.max = before.most;
    refused.delete(pool);
  }
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      const open = pool.totalCount;
      if (!(error instanceof pg.DatabaseError) || error.code !== refusedCode || open === 0) throw error;
      const most = refused.get(pool)?.most ?? pool.options.max;
      refused.set(pool, { most, until: clock.elapsed() + contentMs });
      pool.options.max = Math.min(open, pool.options.max);
    }
  }
}

/** As `pool.query`. */
export async function queryOn(pool: Pool, query: pg.QueryConfig): Promise<pg.QueryResult> {
  const client = await connectionOf(pool);
  try {
    const result = await client.query(query);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}
