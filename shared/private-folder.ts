/** The data folder belongs to its owner alone: what is in it, what comes, and what earlier versions left open. */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders below it that the programs make. */
const ownFolders: readonly string[] = ['tls', 'port-documents'];
/** Whatever lies in the folder of a program that was not named by mistake. */
const ownFile =
  /^(?:(?:outbox|failover|control)\.db|edge-id|edge-config\.json|bootstrap\.json|control\.lock)$/;
const sticky = 0o1000;

/**
 * Makes the folder when it is missing. A folder of ours from earlier is tightened with its files; what comes later is
 * for the owner alone by the umask of the programs, SQLite's -wal and -shm, too. A folder that holds none of our
 * files, or is shared like /tmp, is left as it is: it may have been named by mistake.
 * @returns what could not be tightened: it belongs to somebody else
 */
export function keepPrivate(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if ((lstatSync(folder).mode & sticky) !== 0 || !readdirSync(folder).some((name) => ownFile.test(name)))
    return [];
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
  const left: string[] = [];
  const paths = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(folder, entry.name));
  for (const path of [folder, ...paths]) {
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
