/**
 * What a failed write says about its storage. Pure, and the same for both programs: an SQLite error carries its result
 * code's name (https://sqlite.org/rescode.html), one of PostgreSQL its SQLSTATE
 * (https://www.postgresql.org/docs/15/errcodes-appendix.html), a file system error its errno's.
 */
import { resolve } from 'node:path';
import { fileObstacle } from './file-obstacle.ts';

/**
 * `full`: no room, or no quota. `read_only`: writing is not allowed. `failing`: the device or its content.
 * `unreachable`: the database server cannot be reached. `no_writes`: it can, and takes no writes. `removed`: the files of
 * the database are no longer where they were opened.
 */
export type StorageFault = 'full' | 'read_only' | 'failing' | 'unreachable' | 'no_writes' | 'removed';

const faults: readonly { readonly fault: StorageFault; readonly codes: RegExp }[] = [
  { fault: 'full', codes: /^(?:SQLITE_FULL|53100|ENOSPC|EDQUOT|EFBIG)$/ },
  { fault: 'read_only', codes: /^(?:SQLITE_READONLY(?:_[A-Z]+)*|SQLITE_PERM|EROFS|EACCES|EPERM)$/ },
  // SQLITE_CORRUPT and NOTADB: what was written is unreliable, so nothing more is written.
  {
    fault: 'failing',
    codes:
      /^(?:SQLITE_(?:IOERR|CANTOPEN|CORRUPT|PROTOCOL)(?:_[A-Z]+)*|SQLITE_NOTADB|SQLITE_NOMEM|58030|XX00[12]|EIO|ENXIO|ENODEV|EMFILE|ENFILE|ESTALE)$/,
  },
  { fault: 'unreachable', codes: /^DATABASE_UNREACHABLE$/ },
  { fault: 'no_writes', codes: /^25006$/ },
  { fault: 'removed', codes: /^DATABASE_REMOVED$/ },
];

/** One sentence for a person: what happened. */
export const faultWords: Readonly<Record<StorageFault, string>> = {
  full: 'the disk is full',
  read_only: 'the file system is read-only',
  failing: 'the disk or its file system is failing',
  unreachable: 'the database server cannot be reached',
  no_writes: 'the database server takes no writes',
  removed: 'a file of the database was deleted or replaced while it was in use',
};

/** null: the error has another cause, such as a mistake in a statement. */
export function storageFault(error: unknown): StorageFault | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  const { code } = error;
  return faults.find(({ codes }) => codes.test(code))?.fault ?? null;
}

const damaged = /^SQLITE_(?:CORRUPT(?:_[A-Z]+)*|NOTADB)$/;
const denied = /^(?:EACCES|EPERM)$/;
/** Error codes when a file is in place of a folder. */
const noFolder = /^(?:EEXIST|ENOTDIR)$/;
/** Error codes that may be caused by a file's owner or type. */
const inTheWay =
  /^(?:SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH)(?:_[A-Z]+)*|EACCES|EPERM|EISDIR|EEXIST|ENOTDIR)$/;

/**
 * The storage fault that ended a start or a command, for the person at the terminal: what, where, what to do.
 * @param afterDamage a sentence: what to do about a damaged database
 * @param obstacleAt why a file cannot be used, from the file system
 * @returns null when the error and its causes are about something else
 */
export function storageWords(
  error: unknown,
  afterDamage: string,
  obstacleAt: (path: string) => string | null = fileObstacle,
): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const { code, path: place } = at as { code?: unknown; path?: unknown };
    const path = typeof place === 'string' ? place : null;
    if (typeof code !== 'string') continue;
    if (damaged.test(code))
      return `The database ${path ?? ''} is damaged (${at.message}). ${afterDamage}`.replace('  ', ' ');
    const obstacle = path !== null && inTheWay.test(code) ? obstacleAt(resolve(path)) : null;
    if (obstacle !== null) return `${obstacle} ${at.message}`;
    if (path !== null && noFolder.test(code))
      return `${path} is not a folder, or is below a file. Set a folder (TRUNKLINE_DATA). ${at.message}`;
    if (path !== null && denied.test(code))
      return `${path} is not accessible to this user. Run it as the owner of the data folder (TRUNKLINE_DATA), or correct the owner of the path. ${at.message}`;
    const fault = storageFault(at);
    if (fault === null) continue;
    const where = path === null ? '' : ` (${path})`;
    return `Nothing can be written${where}: ${faultWords[fault]}. Check the disk and the owner of the data folder (TRUNKLINE_DATA) and of the folder that was named, then try again. ${at.message}`;
  }
  return null;
}

/** Opens `path` with `open`. SQLite's errors do not name the file; here they do. */
export function namingPath<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw namedPath(path, error);
  }
}

/** The same error, with the file's name if it is from SQLite. */
export function namedPath(path: string, error: unknown): unknown {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++)
    if ('code' in at && !('path' in at)) Object.assign(at, { path });
  return error;
}
