/** Whether the database takes writes: what failed last, until a write succeeds. */
import type SqliteFile from 'better-sqlite3';
import type { Clock } from '#shared/clock.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';

/** How often a database that took nothing is tried again, ms. */
const tryEveryMs = 1_000;

export class StorageState {
  readonly #connection: SqliteFile.Database;
  readonly #clock: Clock;
  #fault: StorageFault | null = null;
  #triedAt = 0;
  /** Statements that failed for want of room or a sound disk. */
  failures = 0;

  constructor(connection: SqliteFile.Database, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Takes note of what a statement has thrown; other causes than the disk's are passed over. */
  note(error: unknown): void {
    const fault = storageFault(error);
    if (fault === null) return;
    this.#fault = fault;
    this.failures += 1;
    this.#triedAt = this.#clock.now();
  }

  /**
   * Why nothing can be written; null: it can, as far as anybody tried. What failed is tried again by a write that
   * changes nothing. To be called while nobody else uses the connection.
   */
  read(): StorageFault | null {
    if (this.#fault === null || this.#clock.now() - this.#triedAt < tryEveryMs) return this.#fault;
    this.#triedAt = this.#clock.now();
    try {
      const version = this.#connection.pragma('user_version', { simple: true });
      this.#connection.pragma(`user_version = ${Number(version)}`);
      this.#fault = null;
    } catch (error) {
      this.note(error);
    }
    return this.#fault;
  }
}
