/**
 * Values by key that survive a restart. They are in memory, and in an append-only file that is written in the thread
 * pool: who changes one never waits for the disk.
 *
 *     set ──> pending ──one frame──> file ──> device ──> the next frame, with the last value of each key
 *                 └───── failed: kept for the next change
 *
 * A file that has grown, or whose sync failed, is replaced by one with the present values only. A process that is killed
 * loses what it set in the last moment.
 */
import { fits, type Shape } from '../shapes.ts';
import { namingPath, type StorageFault, storageFault } from '../storage-fault.ts';
import { type ValueDisk, type ValueFile, valueDisk } from './disk.ts';
import { frameOf, readFrames } from './frame.ts';

/** Octets from which a file is replaced, when four fifths of it are former values. */
const compactFromBytes = 65_536;

export interface KeptValuesOptions<T> {
  /** null: only in memory, for tests */
  readonly path: string | null;
  /** A value of a file that has another shape is left out. */
  readonly shape: Shape<T>;
  /** Called for each write that failed. */
  readonly failed: (fault: StorageFault) => void;
  /** Called when all that was set is on the device. */
  readonly written?: () => void;
  readonly disk?: ValueDisk;
}

export class KeptValues<T> {
  readonly #options: KeptValuesOptions<T>;
  readonly #disk: ValueDisk;
  readonly #values = new Map<string, T>();
  /** Keys whose value the file does not have. */
  #pending = new Set<string>();
  #file: ValueFile | null = null;
  /** Where the next frame begins. */
  #size = 0;
  /** Octets of the present values alone, at the start or when they were last written so. */
  #least = 0;
  /** Whether what is in the file cannot be trusted. */
  #broken = false;
  #running: Promise<void> | null = null;
  #closed = false;

  /** @throws Error when there is a file that cannot be read, or another version wrote it */
  constructor(options: KeptValuesOptions<T>) {
    this.#options = options;
    this.#disk = options.disk ?? valueDisk;
    const { path } = options;
    if (path !== null) this.#load(namingPath(path, () => this.#disk.read(path)));
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  entries(): IterableIterator<[string, T]> {
    return this.#values.entries();
  }

  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  /** Keys whose value is not on the device. */
  get pending(): number {
    return this.#pending.size;
  }

  /** No effect once closed. */
  set(key: string, value: T): void {
    if (this.#closed) return;
    this.#values.set(key, value);
    this.#changed(key);
  }

  delete(key: string): void {
    if (!this.#closed && this.#values.delete(key)) this.#changed(key);
  }

  /** Resolves when what was set is on the device, or could not be written. */
  async written(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Tries once more what could not be written. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.written();
    if (this.#pending.size > 0) await this.#start();
    await this.#file?.close().catch(() => undefined);
    this.#file = null;
  }

  #load(bytes: Buffer | null): void {
    const { contents, end, damaged, isOfAnotherVersion } = readFrames(bytes ?? Buffer.alloc(0));
    if (isOfAnotherVersion)
      throw new Error(
        `${this.#path} is of another version of this program; run that version, or move the file away`,
      );
    for (const content of contents) {
      for (const change of Array.isArray(content) ? content : []) {
        const [key, value]: unknown[] = Array.isArray(change) ? change : [];
        if (typeof key !== 'string') continue;
        if (fits(this.#options.shape, value)) this.#values.set(key, value);
        else this.#values.delete(key);
      }
    }
    this.#size = end;
    this.#least = this.#presentFrame().length;
    // A file that is missing or damaged is written again.
    this.#broken = bytes === null || damaged > 0;
  }

  #changed(key: string): void {
    if (this.#options.path === null) return;
    this.#pending.add(key);
    if (!this.#running) void this.#start();
  }

  #start(): Promise<void> {
    this.#running = this.#write();
    return this.#running;
  }

  async #write(): Promise<void> {
    // What changes in this turn is one frame.
    await Promise.resolve();
    let failed = false;
    while (this.#pending.size > 0 && !failed) {
      const keys = this.#pending;
      this.#pending = new Set();
      try {
        if (this.#broken || this.#size > Math.max(compactFromBytes, 5 * this.#least)) await this.#replace();
        else await this.#append(keys);
      } catch (error) {
        for (const key of keys) this.#pending.add(key);
        this.#options.failed(storageFault(error) ?? 'failing');
        failed = true;
      }
    }
    if (!failed) this.#options.written?.();
    // In the turn of the last look at what is pending: every later change starts a write.
    this.#running = null;
  }

  async #append(keys: Iterable<string>): Promise<void> {
    const frame = frameOf(Array.from(keys, (key) => [key, textOf(this.#values.get(key))] as const));
    this.#file ??= await this.#disk.open(this.#path, false);
    await this.#file.write(frame, this.#size);
    try {
      await this.#file.sync();
    } catch (error) {
      // The kernel may have dropped it, and would sync the rest without an error.
      this.#broken = true;
      throw error;
    }
    this.#size += frame.length;
  }

  /** Writes a file with the present values in the place of the former one. */
  async #replace(): Promise<void> {
    const frame = this.#presentFrame();
    const unfinished = `${this.#path}.new`;
    const file = await this.#disk.open(unfinished, true);
    try {
      await file.write(frame, 0);
      await file.sync();
      await this.#disk.rename(unfinished, this.#path);
    } catch (error) {
      await file.close().catch(() => undefined);
      // Whether it has its name is not known.
      this.#broken = true;
      throw error;
    }
    const former = this.#file;
    this.#file = file;
    this.#size = frame.length;
    this.#least = frame.length;
    this.#broken = false;
    await former?.close().catch(() => undefined);
  }

  #presentFrame(): Buffer {
    return frameOf(Array.from(this.#values, ([key, value]) => [key, textOf(value)] as const));
  }

  get #path(): string {
    const { path } = this.#options;
    if (path === null) throw new Error('these values have no file');
    return path;
  }
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
