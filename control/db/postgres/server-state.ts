/** Whether the server can be reached and written to: the last failure, until a look at the server succeeds. */
import type pg from 'pg';
import type { Clock } from '#shared/clock.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { unreachable } from './unreachable.ts';

/** Shortest interval of looks, and of those that write while no failure is known, ms. */
const lookEveryMs = 1_000;
const writeEveryMs = 5_000;
/** A server that takes longer to answer a look counts as unreachable. */
const answerTimeoutMs = 2_500;
/** A standby, or a server that was told to take no writes. */
const readingLook = {
  text: `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as refuses`,
  query_timeout: answerTimeoutMs,
};
/**
 * Reading works on a full or failing disk, and so do the few small rows that a control plane without requests writes:
 * their pages are there. This has the server write a file of some ten KB beside the tables, and delete it. It changes
 * no table, not even those of the catalog, and writes no log.
 */
const writingLook = {
  text: `set local work_mem = '64kB'; set local temp_tablespaces = '';
    select count(*) from (select md5(n::text) from generate_series(1, 1500) as n order by 1 offset 0) as sorted`,
  query_timeout: answerTimeoutMs,
};

interface Queried {
  query(
    look: pg.QueryConfig & { readonly query_timeout: number },
  ): Promise<{ readonly rows: { readonly refuses?: boolean }[] }>;
}

export class ServerState {
  readonly #server: Queried;
  readonly #clock: Clock;
  #fault: StorageFault | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** Statements that failed because the server could not be reached, or could not write. */
  failures = 0;

  constructor(server: Queried, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Records a statement's error if the server or its disk caused it. */
  note(error: unknown): void {
    const fault = storageFault(error);
    if (fault === null) return;
    this.#fault = fault;
    this.failures += 1;
  }

  /** Why nothing can be written; null: writing worked a few seconds ago. */
  async read(): Promise<StorageFault | null> {
    if (this.#clock.elapsed() - this.#lookedAt >= lookEveryMs) {
      this.#lookedAt = this.#clock.elapsed();
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
    }
    await this.#looking;
    return this.#fault;
  }

  async #look(): Promise<void> {
    try {
      const now = this.#clock.elapsed();
      if (this.#fault === 'full' || this.#fault === 'failing' || now - this.#wroteAt >= writeEveryMs) {
        this.#wroteAt = now;
        await this.#server.query(writingLook);
      }
      const { rows } = await this.#server.query(readingLook);
      this.#fault = rows[0]?.refuses === true ? 'no_writes' : null;
    } catch (error) {
      this.note(unreachable(error));
    }
  }
}
