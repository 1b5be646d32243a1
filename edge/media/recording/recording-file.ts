/**
 * The file of a recording while it grows: `<id>.part`, and `<id>.rec` once it is complete. Writes and syncs run in the
 * thread pool, one write at a time; what comes meanwhile waits in memory. Nothing here waits for a disk.
 *
 *     append ──> pending ──one write──> <id>.part ──finish──> <id>.rec
 *                                           └──a moment later──> the disk (disk-sync.ts)
 *
 * A chunk that is whole in the file stays: it may have been sent already.
 */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { completeSuffix, growingSuffix, type RecordingFault } from '#shared/recording/format.ts';
import { storageFault } from '#shared/storage-fault.ts';
import type { DiskRoom } from './disk-room.ts';
import type { DiskSync } from './disk-sync.ts';

/** Room is taken in steps of this, octets. */
const stepBytes = 65_536;
/** What may wait for the disk, octets: two minutes of audio. More means that the disk cannot keep up. */
export const mostPendingBytes = 2_097_152;

/** What is used of a file. */
export interface GrowingFile {
  write(bytes: Buffer, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export interface RecordingFileOptions {
  readonly folder: string;
  readonly id: string;
  readonly room: DiskRoom;
  readonly syncs: DiskSync;
  /** Called at most once, and not after `finish`: nothing more will be written but the end. */
  readonly failed: (fault: RecordingFault, detail: string) => void;
  /** Called once, when the file is written no more, and has its final name. */
  readonly finished?: ((id: string) => void) | undefined;
  /** Opens the file; for tests. */
  readonly open?: (path: string) => Promise<GrowingFile>;
}

export class RecordingFile {
  readonly #options: RecordingFileOptions;
  readonly #path: string;
  #handle: GrowingFile | null = null;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #reserved = 0;
  /** Octets of whole chunks in the file, with its header. */
  #written = 0;
  /** Whether the name of the file is on the disk. */
  #named = false;
  /** Whether the header has room. */
  #begun = false;
  #failed = false;
  #writing = false;
  #running: Promise<void> = Promise.resolve();
  #finished: Promise<void> | null = null;

  constructor(options: RecordingFileOptions) {
    this.#options = options;
    this.#path = join(options.folder, options.id);
  }

  /** Takes a whole header or chunk. After a failure it does nothing. */
  append(bytes: Buffer): void {
    if (this.#failed || this.#finished) return;
    if (this.#pendingBytes + bytes.length > mostPendingBytes) {
      this.#fail('edge_disk_slow', 'the disk takes recordings more slowly than they come');
      return;
    }
    while (this.#written + this.#pendingBytes + bytes.length > this.#reserved) {
      if (!this.#options.room.take(stepBytes)) {
        this.#fail('edge_disk_full', 'recordings use all the disk space that they may use on this edge');
        return;
      }
      this.#reserved += stepBytes;
    }
    this.#begun = true;
    this.#push(bytes);
  }

  /** Writes `last` too, beyond the limit if need be, and gives the file its final name. Never rejects. */
  finish(last: Buffer): Promise<void> {
    const { id, finished } = this.#options;
    this.#finished ??= this.#finish(last).then(() => finished?.(id));
    return this.#finished;
  }

  async #finish(last: Buffer): Promise<void> {
    if (this.#begun) this.#push(last);
    await this.#running;
    const { room } = this.#options;
    if (!this.#handle) {
      room.give(this.#reserved);
      return;
    }
    // Neither can be told to anybody any more; what the kernel has is still sent.
    await this.#handle.datasync().catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
    if (this.#written === 0) await rm(this.#path + growingSuffix, { force: true }).catch(() => undefined);
    else await rename(this.#path + growingSuffix, this.#path + completeSuffix).catch(() => undefined);
    // In one turn, and last: if this thread dies before it, its reserve is given back and the file counted for it.
    room.give(this.#reserved);
    room.count(this.#written);
  }

  #push(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (!this.#writing) this.#running = this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#pending.length > 0) {
      const chunks = this.#pending;
      this.#pending = [];
      // Without a header nothing that follows could be read.
      if (this.#failed && this.#written === 0) break;
      try {
        this.#handle ??= await this.#open();
        await this.#writeChunks(this.#handle, chunks);
        this.#options.syncs.written(this);
      } catch (error) {
        // Half a chunk may be in the file: the end, with the reason, must follow a whole one.
        await this.#handle?.truncate(this.#written).catch(() => undefined);
        this.#pending = [];
        this.#diskFailed(error);
      }
      this.#pendingBytes = this.#pending.reduce((sum, { length }) => sum + length, 0);
    }
    this.#writing = false;
  }

  async #writeChunks(handle: GrowingFile, chunks: readonly Buffer[]): Promise<void> {
    const batch = Buffer.concat(chunks);
    const left = chunks.map(({ length }) => length);
    let [done, whole] = [0, 0];
    while (done < batch.length) {
      done += (await handle.write(batch, done, batch.length - done)).bytesWritten;
      while (left[0] !== undefined && whole + left[0] <= done) {
        whole += left[0];
        this.#written += left.shift() ?? 0;
      }
    }
  }

  /** Brings what was written to the disk. Never rejects. */
  async sync(): Promise<void> {
    // The end syncs for itself.
    if (this.#finished || !this.#handle) return;
    try {
      await this.#handle.datasync();
      if (!this.#named) await this.#syncFolder();
      this.#named = true;
    } catch (error) {
      if (!this.#finished) this.#diskFailed(error);
    }
  }

  async #syncFolder(): Promise<void> {
    const folder = await open(this.#options.folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async #open(): Promise<GrowingFile> {
    const path = this.#path + growingSuffix;
    if (this.#options.open) return this.#options.open(path);
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    return open(path, 'ax', 0o600);
  }

  #diskFailed(error: unknown): void {
    const detail = error instanceof Error ? error.message : String(error);
    this.#fail(storageFault(error) === 'full' ? 'edge_disk_full' : 'edge_disk_failed', detail);
  }

  #fail(fault: RecordingFault, detail: string): void {
    if (this.#failed) return;
    this.#failed = true;
    // Not at once: the caller may still be creating what it tells.
    queueMicrotask(() => {
      if (!this.#finished) this.#options.failed(fault, detail);
    });
  }
}
