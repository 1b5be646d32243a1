/** Whether the server can be reached and written to: the last failure, until a look at the server succeeds. */
import type pg from 'pg';
import type { Clock } from '#shared/clock.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { unreachable } from './unreachable.ts';

/** Interval of looks at a server that failed, ms. */
const lookEveryMs = 1_000;
/** A server that takes longer to answer a look counts as unreachable. */
const answerTimeoutMs = 2_500;
const look = { text: 'select pg_is_in_recovery() as standby', query_timeout: answerTimeoutMs };

export class ServerState {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  #fault: StorageFault | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** Statements that failed because the server could not be reached, or could not write. */
  failures = 0;

  constructor(pool: pg.Pool, clock: Clock) {
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
      const { rows } = await this.#pool.query<{ standby: boolean }>(look);
      this.#fault = rows[0]?.standby === true ? 'read_only' : null;
    } catch (error) {
      this.note(unreachable(error));
    }
  }
}
