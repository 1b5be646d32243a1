/**
 * Whether the database can be written: the last failure until a write succeeds, and a small write from time to time.
 */
import { rmSync, writeFileSync } from 'node:fs';
import type SqliteFile from 'better-sqlite3';
import type { Clock } from '#shared/clock.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import type { FilesInPlace } from './in-place.ts';

/** Retry interval of a database that failed, ms. */
const tryEveryMs = 1_000;
/** Probe interval while no failure is known, ms, and probe size in bytes: detects a full disk before a write fails. */
const lookEveryMs = 5_000;
const lookBytes = 65_536;

export class StorageState {
  readonly #connection: SqliteFile.Database;
  readonly #clock: Clock;
  readonly #inPlace: Pick<FilesInPlace, 'check'> | null;
  #fault: StorageFault | null = null;
  /** A fault that no later write disproves. */
  #forGood: StorageFault | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Statements that failed because the disk is full or broken. */
  failures = 0;

  /** @param inPlace null: its log is not beside it */
  constructor(
    connection: SqliteFile.Database,
    clock: Clock,
    inPlace: Pick<FilesInPlace, 'check'> | null = null,
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#inPlace = inPlace;
  }

  /** Records a statement's error if the disk caused it. */
  note(error: unknown): void {
    const fault = storageFault(error);
    if (fault === null) return;
    this.#fault = fault;
    this.failures += 1;
    this.#triedAt = this.#clock.elapsed();
  }

  /** Records an error after which nothing that this process writes counts as stored. */
  noteForGood(error: unknown): void {
    this.#forGood = storageFault(error) ?? 'failing';
    this.failures += 1;
  }

  /**
   * Why nothing can be written; null: writing worked a few seconds ago. A failure is retried with a write that changes
   * nothing. Call it while nobody else uses the connection.
   */
  read(): StorageFault | null {
    if (this.#forGood !== null) return this.#forGood;
    const everyMs = this.#fault === null ? lookEveryMs : tryEveryMs;
    if (this.#clock.elapsed() - this.#triedAt < everyMs) return this.#fault;
    this.#triedAt = this.#clock.elapsed();
    try {
      this.#inPlace?.check();
    } catch (error) {
      this.noteForGood(error);
      return this.#forGood;
    }
    try {
      this.#look();
      // While the database works, this would wait for the writes of other programs.
      if (this.#fault === null) return null;
      const version = this.#connection.pragma('user_version', { simple: true });
      this.#connection.pragma(`user_version = ${Number(version)}`);
      this.#fault = null;
    } catch (error) {
      this.note(error);
    }
    return this.#fault;
  }

  /** Next to the database: its own write-ahead log may have room left when the disk has none. */
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
