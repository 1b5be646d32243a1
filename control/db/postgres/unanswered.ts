/**
 * Statements that wait for an answer that will not come: the network to the server is cut without a word, or the server
 * hangs. The kernel would repeat what it sent for a quarter of an hour, and after the network is back wait as long
 * again as it was away.
 *
 * A long statement and a lost one look the same from here, so the server is asked over a connection of its own: whether
 * it works on the statement. If it does not, or does not answer twice, the connection is closed and the statement fails.
 */
import pg from 'pg';
import { type Clock, systemClock } from '#shared/clock.ts';
import { processOf } from './session.ts';

/** Statements that take less are not asked about. */
const silentMs = 5_000;
const lookEveryMs = 1_000;
/** How long the server may take for the connection, and then for its answer. */
const answerMs = 4_000;
/** Looks without an answer after which the server counts as away: one may be late when it has too much to do. */
const misses = 2;

/** The part of a connection that a wait for it needs. */
type Client = Pick<pg.PoolClient, 'connection'>;

/** @returns those of the processes that work on a statement; null: no answer */
export type Look = (processes: readonly number[]) => Promise<ReadonlySet<number> | null>;

interface Waiting {
  readonly client: Client;
  readonly since: number;
}

export class Unanswered {
  readonly #look: Look;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #isWatching = false;
  #missed = 0;

  constructor(look: Look, clock: Clock = systemClock) {
    this.#look = look;
    this.#clock = clock;
  }

  /** Runs a statement on `client`; it fails when its answer will not come. */
  async whileWaiting<T>(client: Client, run: () => Promise<T>): Promise<T> {
    const waiting = { client, since: this.#clock.elapsed() };
    this.#waiting.add(waiting);
    this.#watch();
    try {
      return await run();
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#clock.after(lookEveryMs, () => {
      void this.#check().then(() => {
        this.#isWatching = false;
        if (this.#waiting.size > 0) this.#watch();
      });
    });
  }

  async #check(): Promise<void> {
    const now = this.#clock.elapsed();
    const silent = [...this.#waiting].filter(({ since }) => now - since >= silentMs);
    if (silent.length === 0) {
      this.#missed = 0;
      return;
    }
    const processes = silent.flatMap(({ client }) => processOf(client) ?? []);
    const working = await this.#look(processes);
    this.#missed = working === null ? this.#missed + 1 : 0;
    for (const waiting of silent) {
      // Answered meanwhile.
      if (!this.#waiting.has(waiting)) continue;
      const { client } = waiting;
      const process = processOf(client);
      const isLost = working === null ? this.#missed >= misses : process !== null && !working.has(process);
      if (isLost) client.connection.stream.destroy(new Error(why(working === null)));
    }
  }
}

const why = (isAway: boolean) =>
  isAway
    ? 'it did not answer a statement, nor on another connection'
    : 'the connection was lost: the server does not work on the statement that it was sent';

/** Asks the server at `url`. */
export function lookAt(url: string): Look {
  return async (processes) => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
      application_name: 'trunkline-control-look',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(
        // Without track_activities every state is 'disabled'.
        `select pid from pg_stat_activity where pid = any($1::int[]) and coalesce(state, '') not like 'idle%'`,
        [processes],
      );
      return new Set(rows.map(({ pid }) => pid));
    } catch (error) {
      // A server that says no, such as with too many connections, is there.
      return error instanceof pg.DatabaseError ? new Set(processes) : null;
    } finally {
      void client.end().catch(() => undefined);
    }
  };
}
