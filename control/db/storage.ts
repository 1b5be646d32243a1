/** Whether the database takes writes: what failed last, until a write succeeds, and a small write from time to time. */
import { rmSync, writeFileSync } from 'node:fs';
import type SqliteFile from 'better-sqlite3';
import type { Clock } from '#shared/clock.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';

/** How often a database that took nothing is tried again, ms. */
const tryEveryMs = 1_000;
/** How often one is tried of which nothing bad is known, ms, and by so many bytes: a full disk shows before a write fails. */
const lookEveryMs = 5_000;
const lookBytes = 65_536;

export class StorageState {
  readonly #connection: SqliteFile.Database;
  readonly #clock: Clock;
  #fault: StorageFault | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
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
    this.#triedAt = this.#clock.elapsed();
  }

  /**
   * Why nothing can be written; null: it could a few seconds ago. What failed is tried again by a write that changes
   * nothing. To be called while nobody else uses the connection.
   */
  read(): StorageFault | null {
    const everyMs = this.#fault === null ? lookEveryMs : tryEveryMs;
    if (this.#clock.elapsed() - this.#triedAt < everyMs) return this.#fault;
    this.#triedAt = this.#clock.elapsed();
    try {
      this.#look();
      // Of a database that works this would wait for the writes of other programs.
      if (this.#fault === null) return null;
      const version = this.#connection.pragma('user_version', { simple: true });
      this.#connection.pragma(`user_version = ${Number(version)}`);
      this.#fault = null;
    } catch (error) {
      this.note(error);
    }
    return this.#fault;
  }

  /** Beside the database: its own write-ahead log may have room left when the disk has none. */
  #look(): void {
    const { name, memory } = this.#connection;
    if (memory || name === '') return;
    const file = `${name}-room`;
    try {
      writeFileSync(file, Buffer.alloc(lookBytes, 1), { mode: 0o600 });
    } finally {
      rmSync(file, { force: true });
    }
  }
}
