/**
 * When a commit survives a loss of power. SQLite runs with `synchronous = NORMAL`: a commit is written to the
 * write-ahead log, which survives the death of the process, but the log is synced only before a checkpoint
 * (https://sqlite.org/wal.html). Who tells somebody else about a commit waits here for a sync of the log, which runs in
 * the thread pool. One sync covers all commits before its start:
 *
 *     commit 1 ── sync A ────────────────> 1 is durable
 *          commit 2, 3 ── waits for A ── sync B ──> 2 and 3 are durable
 *
 * SQLite syncs the log before it copies it into the database file, and the file before it reuses the log: what a
 * checkpoint moved is durable too. Closing this descriptor releases no lock of SQLite's; it locks other files.
 */
import { close, fdatasync, fsync, open } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { storageFault } from '#shared/storage-fault.ts';
import type { FilesInPlace } from './in-place.ts';

/** Resolves when all that was written to the log before the call is on its device. */
export type SyncLog = () => Promise<void>;

const openFile = promisify(open);
const syncFile = promisify(fdatasync);
const syncFolder = promisify(fsync);
const closeFile = promisify(close);

/** The log could not be synced. Its code is that of a storage fault. */
export class SyncFailed extends Error {
  readonly code: string;

  constructor(file: string, cause: unknown) {
    super(`${file} could not be synced: what was written last may not survive a restart of the machine`, {
      cause,
    });
    const { code } = cause as { code?: unknown };
    this.code = storageFault(cause) !== null && typeof code === 'string' ? code : 'EIO';
  }
}

export class Durability {
  readonly #log: string;
  readonly #inPlace: Pick<FilesInPlace, 'check'>;
  readonly #sync: SyncLog;
  readonly #failed: (error: SyncFailed) => void;
  /** Commits so far, and how many of them are durable; an earlier process may have left one that is not. */
  #commits = 1;
  #durable = 0;
  /** Settles when no sync runs. */
  #running: Promise<unknown> = Promise.resolve();
  /** The sync that starts after the running one. */
  #next: Promise<void> | null = null;
  #fd: number | null = null;
  #lost: SyncFailed | null = null;

  /**
   * @param file of the database @param inPlace what is synced must have its name
   * @param failed is called once, with the first sync that failed @param sync for tests
   */
  constructor(
    file: string,
    inPlace: Pick<FilesInPlace, 'check'>,
    failed: (error: SyncFailed) => void,
    sync?: SyncLog,
  ) {
    this.#log = `${file}-wal`;
    this.#inPlace = inPlace;
    this.#failed = failed;
    this.#sync = sync ?? (async () => syncFile(this.#fd ?? (await this.#open())));
  }

  /** To call after every commit. */
  committed(): void {
    this.#commits += 1;
  }

  /**
   * Resolves when every commit before the call is durable.
   * @throws SyncFailed also later, for every commit that no sync covered: the kernel drops pages that it could not
   * write, and the next sync of the same file succeeds without them
   */
  durable(): Promise<void> {
    if (this.#durable >= this.#commits) return Promise.resolve();
    this.#next ??= this.#running.then(() => this.#start());
    return this.#next;
  }

  /** Call after the database is closed. */
  async close(): Promise<void> {
    await this.#running;
    if (this.#fd !== null) await closeFile(this.#fd);
    this.#fd = null;
  }

  #start(): Promise<void> {
    this.#next = null;
    const work = this.#syncOnce(this.#commits);
    this.#running = work.catch(() => undefined);
    return work;
  }

  async #syncOnce(commits: number): Promise<void> {
    if (this.#lost) throw this.#lost;
    try {
      await this.#sync();
      this.#inPlace.check();
      this.#durable = commits;
    } catch (error) {
      this.#lost = new SyncFailed(this.#log, error);
      this.#failed(this.#lost);
      throw this.#lost;
    }
  }

  /** SQLite keeps the file as long as a connection is open. Its name must be on the disk too. */
  async #open(): Promise<number> {
    const fd = await openFile(this.#log, 'r');
    this.#fd = fd;
    const folder = await openFile(dirname(this.#log), 'r');
    try {
      await syncFolder(folder);
    } catch (error) {
      // File systems that cannot sync a folder, such as some network file systems.
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
    } finally {
      await closeFile(folder);
    }
    return fd;
  }
}
