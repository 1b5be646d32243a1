/** The disk of kept values. Tests put others in its place: full, slow and broken ones. */
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface ValueFile {
  /** Writes all octets, or rejects. What a failed write left there is overwritten by the next one. */
  write(octets: Uint8Array, at: number): Promise<void>;
  /** Resolves when everything written before is on the device. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** All but `read` works in the thread pool. */
export interface ValueDisk {
  /** Null: there is no such file. */
  read(path: string): Buffer | null;
  /** @param isNew empty, in the place of one with this name */
  open(path: string, isNew: boolean): Promise<ValueFile>;
  /** Gives a file another name, also on the device. */
  rename(from: string, to: string): Promise<void>;
}

export const valueDisk: ValueDisk = {
  read: (path) => {
    try {
      return readFileSync(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  },
  open: async (path, isNew) => {
    const file = await open(path, isNew ? 'w' : 'r+', 0o600);
    return {
      write: async (octets, at) => {
        for (let done = 0; done < octets.length; )
          done += (await file.write(octets, done, octets.length - done, at + done)).bytesWritten;
      },
      sync: () => file.datasync(),
      close: () => file.close(),
    };
  },
  rename: async (from, to) => {
    await rename(from, to);
    const folder = await open(dirname(to), 'r');
    try {
      await folder.sync();
    } catch (error) {
      // Some network file systems cannot sync a folder.
      if (codeOf(error) !== 'EINVAL') throw error;
    } finally {
      await folder.close();
    }
  },
};

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
