/**
 * What a failed write says about the place it went to. Pure, and the same for both programs: an error of SQLite
 * carries its result code's name (https://sqlite.org/rescode.html), one of the file system its errno's.
 */

/** `full`: no room, or no quota. `read_only`: writing is not allowed. `failing`: the device, or what stands on it. */
export type StorageFault = 'full' | 'read_only' | 'failing';

const faults: readonly { readonly fault: StorageFault; readonly codes: RegExp }[] = [
  { fault: 'full', codes: /^(?:SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)$/ },
  { fault: 'read_only', codes: /^(?:SQLITE_READONLY(?:_[A-Z]+)*|SQLITE_PERM|EROFS|EACCES|EPERM)$/ },
  // SQLITE_CORRUPT and NOTADB: what was written cannot be relied upon, so nothing more is.
  {
    fault: 'failing',
    codes:
      /^(?:SQLITE_(?:IOERR|CANTOPEN|CORRUPT|PROTOCOL)(?:_[A-Z]+)*|SQLITE_NOTADB|SQLITE_NOMEM|EIO|ENXIO|ENODEV|EMFILE|ENFILE|ESTALE)$/,
  },
];

/** One sentence for a person: what happened. */
export const faultWords: Readonly<Record<StorageFault, string>> = {
  full: 'no room is left on the disk',
  read_only: 'the file system cannot be written',
  failing: 'the disk or its file system fails',
};

/** null: the error has another cause, such as a mistake in a statement. */
export function storageFault(error: unknown): StorageFault | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  const { code } = error;
  return faults.find(({ codes }) => codes.test(code))?.fault ?? null;
}
