/** Restricts the data folder to its owner: existing files, new ones, and those of earlier versions. */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Subfolders created by the programs. */
const ownFolders: readonly string[] = ['tls', 'port-documents', 'outbox'];
/** Files in the data folder of a program, which show that the folder was not named by mistake. */
const ownFile =
  /^(?:(?:outbox|failover|control)\.db(?:-wal|-shm)?|(?:failover|registrations)\.journal|edge-id|edge-config\.json|(?:edge-)?secret\.key|bootstrap\.json|(?:control|outbox)\.lock)$/;
const sticky = 0o1000;

/** Whether a name in the data folder belongs to a file of the programs. */
export function isOwnFile(name: string): boolean {
  return ownFile.test(name);
}

/**
 * Creates the folder when missing. Tightens the permissions of an existing folder of ours and its files; the programs'
 * umask restricts new files to the owner, including SQLite's -wal and -shm. A folder without our files is unchanged,
 * because it may have been named by mistake. A folder with the sticky bit is shared, like /tmp or a tmpfs without a
 * mode: it keeps its mode, and only files that are surely ours are tightened.
 * @returns paths that stay open to others: owned by somebody else, or shared
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

/** The folder and the files directly in it. */
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
      // SQLite's files come and go.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) left.push(path);
    }
  }
  return left;
}

/** Restricts all files created by this process and its children to the owner. Called when a program starts. */
export function ownerOnly(): void {
  process.umask(0o077);
}
