/** The data folder belongs to its owner alone: what is in it, what comes, and what earlier versions left open. */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Folders below it that the programs make. */
const ownFolders: readonly string[] = ['tls', 'port-documents'];
/** Whatever lies in the folder of a program that was not named by mistake. */
const ownFile =
  /^(?:(?:outbox|failover|control)\.db(?:-wal|-shm)?|edge-id|edge-config\.json|(?:edge-)?secret\.key|bootstrap\.json|control\.lock)$/;
const sticky = 0o1000;

/** Whether a name in the data folder is that of a file of the programs. */
export function isOwnFile(name: string): boolean {
  return ownFile.test(name);
}

/**
 * Makes the folder when it is missing. A folder of ours from earlier is tightened with its files; what comes later is
 * for the owner alone by the umask of the programs, SQLite's -wal and -shm, too. A folder that holds none of our
 * files is left as it is: it may have been named by mistake. One with the sticky bit is shared, like /tmp or a tmpfs
 * without a mode: it keeps its mode, and only what is surely ours in it is tightened.
 * @returns what stays open: it belongs to somebody else, or is shared
 */
export function keepPrivate(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!readdirSync(folder).some((name) => ownFile.test(name))) return [];
  const { mode } = lstatSync(folder);
  if ((mode & sticky) !== 0) {
    const ours = filesOf(folder).filter((path) => ownFile.test(basename(path)));
    return [...((mode & 0o077) === 0 ? [] : [folder]), ...tightenAll(ours)];
  }
  const left = tighten(folder);
  for (const name of ownFolders) left.push(...tightenIfThere(join(folder, name)));
  return left;
}

function tightenIfThere(folder: string): string[] {
  try {
    return lstatSync(folder).isDirectory() ? tighten(folder) : [];
  } catch {
    return [];
  }
}

/** The folder and the files right in it. */
function tighten(folder: string): string[] {
  return tightenAll([folder, ...filesOf(folder)]);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(folder, entry.name));
}

/** @returns those that could not be tightened */
function tightenAll(paths: readonly string[]): string[] {
  const left: string[] = [];
  for (const path of paths) {
    try {
      const mode = lstatSync(path).mode & 0o777;
      if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
    } catch (error) {
      // A file of SQLite comes and goes.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) left.push(path);
    }
  }
  return left;
}

/** Lets everything that this process and its children make be for the owner alone. For the start of a program. */
export function ownerOnly(): void {
  process.umask(0o077);
}
