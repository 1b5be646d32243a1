/** The files of a journal in memory: a disk that can be full or broken, loses its power, and syncs when the test says so. */
import type { SegmentFile, SegmentFiles } from '../../../edge/reporting/journal/segment-files.ts';

interface StoredFile {
  octets: Buffer;
  /** What of it is on the device. */
  synced: Buffer;
  /** Whether its name is on the device. */
  named: boolean;
}

class DiskError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`${code}: simulated`);
    this.code = code;
  }
}

/** A buffer that a file grows into. */
interface Growing {
  readonly memory: Buffer;
  /** What of it the file was after its last write. */
  readonly octets: Buffer;
}

export class MemoryDisk implements SegmentFiles {
  readonly files = new Map<string, StoredFile>();
  /** The error of every write; null: they succeed. */
  broken: string | null = null;
  /** Octets that the disk holds; a write beyond them stores what fits, and fails. */
  room = Number.POSITIVE_INFINITY;
  /** The error of every sync; what was written before it never gets to the device. */
  brokenSync: string | null = null;
  /** Set: syncs wait until it resolves. */
  slow: Promise<void> | null = null;
  syncs = 0;
  /** Files that were created and not closed. */
  open = 0;
  removals = 0;
  /** What was noted last. */
  last: Buffer | null = null;
  /** Files whose removal is not on the device. */
  #removed = new Map<string, StoredFile>();
  readonly #growing = new WeakMap<StoredFile, Growing>();

  list(): string[] {
    return [...this.files.keys()];
  }

  read(name: string): Buffer {
    return Buffer.from(this.#file(name).octets);
  }

  create(name: string): SegmentFile {
    this.#check();
    const file: StoredFile = { octets: Buffer.alloc(0), synced: Buffer.alloc(0), named: false };
    this.files.set(name, file);
    this.open += 1;
    return {
      write: (octets, at) => this.#write(file, octets, at),
      sync: async () => {
        const { octets } = file;
        await this.slow;
        this.#sync(file, octets);
      },
      syncNow: () => this.#sync(file, file.octets),
      size: () => file.octets.length,
      close: () => {
        this.open -= 1;
      },
    };
  }

  note(octets: Uint8Array): void {
    this.#check();
    this.last = Buffer.from(octets);
  }

  noted(): Buffer | null {
    return this.last;
  }

  async remove(name: string): Promise<void> {
    this.#check();
    this.removals += 1;
    this.#removed.set(name, this.#file(name));
    this.files.delete(name);
  }

  async sync(): Promise<void> {
    this.syncNow();
  }

  syncNow(): void {
    if (this.brokenSync !== null) throw new DiskError(this.brokenSync);
    for (const file of this.files.values()) file.named = true;
    this.#removed.clear();
  }

  /** Octets stored. */
  get size(): number {
    return [...this.files.values()].reduce((sum, { octets }) => sum + octets.length, 0);
  }

  /**
   * The disk after a loss of power. Of what was not synced, `kept` decides octet by octet what is there: the kernel
   * writes pages in any order. Removed files are back.
   */
  afterPowerLoss(kept: (name: string, offset: number) => boolean = () => false): MemoryDisk {
    const disk = new MemoryDisk();
    disk.last = this.last;
    for (const [name, { octets, synced, named }] of [...this.files, ...this.#removed]) {
      if (!named) continue;
      const left = Buffer.alloc(octets.length);
      let end = synced.length;
      for (let offset = 0; offset < octets.length; offset += 1) {
        const isSynced = offset < synced.length && synced[offset] === octets[offset];
        if (!isSynced && !kept(name, offset)) continue;
        left[offset] = octets[offset] ?? 0;
        end = Math.max(end, offset + 1);
      }
      const now = left.subarray(0, end);
      disk.files.set(name, { octets: now, synced: now, named: true });
    }
    return disk;
  }

  #file(name: string): StoredFile {
    const file = this.files.get(name);
    if (!file) throw new DiskError('ENOENT');
    return file;
  }

  #check(): void {
    if (this.broken !== null) throw new DiskError(this.broken);
  }

  #write(file: StoredFile, octets: Uint8Array, at: number): void {
    this.#check();
    const free = Math.max(0, this.room - this.size + Math.max(0, file.octets.length - at));
    const fitting = octets.subarray(0, free);
    const end = Math.max(file.octets.length, at + fitting.length);
    const memory = this.#memoryFor(file, at, end);
    memory.set(fitting, at);
    file.octets = memory.subarray(0, end);
    this.#growing.set(file, { memory, octets: file.octets });
    if (fitting.length < octets.length) throw new DiskError('ENOSPC');
  }

  /**
   * With what the file has, and room up to `end`. Its own buffer if the write is behind all that was written: what was
   * synced, or read, is a view of it and must stay as it is. To copy a file for each write would take seconds.
   */
  #memoryFor(file: StoredFile, at: number, end: number): Buffer {
    const growing = this.#growing.get(file);
    if (growing?.octets === file.octets && at >= file.octets.length && end <= growing.memory.length)
      return growing.memory;
    const memory = Buffer.alloc(2 * end);
    file.octets.copy(memory);
    return memory;
  }

  #sync(file: StoredFile, octets: Buffer): void {
    this.syncs += 1;
    if (this.brokenSync !== null) throw new DiskError(this.brokenSync);
    file.synced = octets;
  }
}
