/** The files of a journal. Tests put other disks in their place: full ones, broken ones, and such that lose power. */
import {
  close,
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsync,
  fsyncSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rm,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pathExists } from '#shared/path-exists.ts';

export interface SegmentFile {
  /** Writes all octets, or throws. What a failed write left there is overwritten by the next one. */
  write(octets: Uint8Array, at: number): void;
  /** Resolves when everything written before is on the device; runs in the thread pool. */
  sync(): Promise<void>;
  syncNow(): void;
  /** Octets that it has now, also when it has lost its name. */
  size(): number;
  close(): void;
}

export interface SegmentFiles {
  /** Names of all files. */
  list(): string[];
  read(name: string): Buffer;
  /** A new, empty file in the place of one with this name. */
  create(name: string): SegmentFile;
  remove(name: string): Promise<void>;
  /** Keeps octets beside the segments, in the place of those kept before. No sync covers them. */
  note(octets: Uint8Array): void;
  /** What was noted last; null: nothing, or it cannot be read. */
  noted(): Buffer | null;
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
  const make = () => mkdirSync(folder, { recursive: true, mode: 0o700 });
  make();
  syncFolder(dirname(folder));
  const note = join(folder, 'newest');
  return {
    list: () => {
      // Deleted while the edge runs, the folder is made again.
      make();
      return readdirSync(folder);
    },
    // Written whole and renamed: one that is cut says nothing.
    note: (octets) => {
      writeFileSync(`${note}.new`, octets, { mode: 0o600 });
      renameSync(`${note}.new`, note);
    },
    noted: () => (pathExists(note) ? readFileSync(note) : null),
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
    size: () => fstatSync(fd).size,
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
