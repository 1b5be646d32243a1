/** The files of a journal. Tests put other disks in their place: full ones, broken ones, and such that lose power. */
import {
  close,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  rm,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface SegmentFile {
  /** Writes all octets, or throws. What a failed write left there is overwritten by the next one. */
  write(octets: Uint8Array, at: number): void;
  /** Resolves when everything written before is on the device; runs in the thread pool. */
  sync(): Promise<void>;
  syncNow(): void;
  close(): void;
}

export interface SegmentFiles {
  /** Names of all files. */
  list(): string[];
  read(name: string): Buffer;
  /** A new, empty file in the place of one with this name. */
  create(name: string): SegmentFile;
  remove(name: string): Promise<void>;
  /** Puts the names of the files on the device. */
  sync(): Promise<void>;
  syncNow(): void;
}

const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);
const openFile = promisify(open);
const closeFile = promisify(close);
const removeFile = promisify(rm);

/** The files in a folder, which is created when missing. */
export function folderFiles(folder: string): SegmentFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  syncFolder(dirname(folder));
  return {
    list: () => readdirSync(folder),
    read: (name) => readFileSync(join(folder, name)),
    create: (name) => fileAt(join(folder, name)),
    remove: (name) => removeFile(join(folder, name), { force: true }),
    sync: async () => {
      const fd = await openFile(folder, 'r');
      await syncAll(fd)
        .catch(unlessImpossible)
        .finally(() => closeFile(fd));
    },
    syncNow: () => syncFolder(folder),
  };
}

function fileAt(path: string): SegmentFile {
  const fd = openSync(path, 'w', 0o600);
  return {
    write: (octets, at) => {
      for (let done = 0; done < octets.length; )
        done += writeSync(fd, octets, done, octets.length - done, at + done);
    },
    sync: () => syncData(fd),
    syncNow: () => fdatasyncSync(fd),
    close: () => closeSync(fd),
  };
}

/** A created, renamed or removed file survives a loss of power once its folder is synced. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    unlessImpossible(error);
  } finally {
    closeSync(fd);
  }
}

/** File systems that cannot sync a folder, such as some network file systems. */
function unlessImpossible(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
}
