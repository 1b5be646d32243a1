/** Whether the server can be reached and written to: the last failure, until a look at the server succeeds. */
import type pg from 'pg';
import type { Clock } from '#shared/clock.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { unreachable } from './unreachable.ts';

/** Interval of looks at a server that failed, ms. */
const lookEveryMs = 1_000;
/** A server that takes longer to answer a look counts as unreachable. */
const answerTimeoutMs = 2_500;
/** A standby, or a server that was told to take no writes. */
const readingLook = {
  text: `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as refuses`,
  query_timeout: answerTimeoutMs,
};
/** Reading works on a full or failing disk; this makes the server add pages to a file, and leaves nothing. */
const writingLook = {
  text: `create temporary table trunkline_look on commit drop as
    select md5(n::text) as text from generate_series(1, 2000) as n`,
  query_timeout: answerTimeoutMs,
};

export class ServerState {
  readonly #pool: Pick<pg.Pool, 'query'>;
  readonly #clock: Clock;
  #fault: StorageFault | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** Statements that failed because the server could not be reached, or could not write. */
  failures = 0;

  constructor(pool: Pick<pg.Pool, 'query'>, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** Records a statement's error if the server or its disk caused it. */
  note(error: unknown): void {
    const fault = storageFault(error);
    if (fault === null) return;
    this.#fault = fault;
    this.failures += 1;
  }

  /** Why nothing can be written; null: the server answers. */
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
      if (this.#fault === 'full' || this.#fault === 'failing') await this.#pool.query(writingLook);
      const { rows } = await this.#pool.query<{ refuses: boolean }>(readingLook);
      this.#fault = rows[0]?.refuses === true ? 'no_writes' : null;
    } catch (error) {
      this.note(unreachable(error));
    }
  }
}
