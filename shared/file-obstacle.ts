/**
 * Why one of our files cannot be used, from the file system: SQLite says only "unable to open database file" for
 * another user's file, for a folder that cannot be entered and for a folder in place of the file, and none of these is
 * a disk fault.
 */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Files that SQLite keeps beside a database and must also write. */
const besideDatabase = ['-wal', '-shm', '-journal'];

/** The user that the program runs as. `null`: the platform has no users. */
export type RunsAs = number | null;

/**
 * @param path of a file; if it must be written, SQLite's files beside it are checked too
 * @returns the obstacle, its owner, the current user, and what to do; null: none found
 */
export function fileObstacle(
  path: string,
  needs: 'read' | 'write' = 'write',
  runsAs: RunsAs = process.getuid?.() ?? null,
): string | null {
  for (const folder of foldersAbove(path)) {
    const found = look(folder);
    if (found === null) return notMakable(dirname(folder), runsAs);
    if (!found.isFolder)
      return `${folder} is a file, but must be a folder. Move it away, or name another folder (TRUNKLINE_DATA).`;
    if (!may(folder, constants.X_OK)) return closed('The folder ', folder, found, runsAs, 'enter', 'u+rwx');
  }
  const isWritten = needs === 'write';
  const beside = isWritten ? besideDatabase.map((ending) => path + ending) : [];
  for (const file of [path, ...beside]) {
    const found = look(file);
    if (found === null) continue;
    if (found.isFolder)
      return `${file} is a folder, but must be a file. Move it away, or name another data folder (TRUNKLINE_DATA).`;
    if (!may(file, constants.R_OK)) return closed('', file, found, runsAs, 'read', 'u+rw');
    if (isWritten && !may(file, constants.W_OK)) return closed('', file, found, runsAs, 'write', 'u+rw');
  }
  // A file is created in the folder: the database itself, or SQLite's files beside it.
  return isWritten ? notMakable(dirname(path), runsAs) : null;
}

function notMakable(folder: string, runsAs: RunsAs): string | null {
  const found = look(folder);
  if (found === null || may(folder, constants.W_OK)) return null;
  return closed('The folder ', folder, found, runsAs, 'write into', 'u+rwx');
}

interface Found {
  readonly isFolder: boolean;
  readonly owner: number;
  /** permission bits */
  readonly mode: number;
}

/** null: missing or not visible. */
function look(path: string): Found | null {
  try {
    const { uid, mode } = statSync(path);
    return { isFolder: (mode & constants.S_IFMT) === constants.S_IFDIR, owner: uid, mode: mode & 0o7777 };
  } catch {
    return null;
  }
}

function may(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return true;
  } catch (error) {
    // A read-only file system is a disk problem, not one of permissions.
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}

/** From the root down. */
function foldersAbove(path: string): string[] {
  const above: string[] = [];
  for (let at = dirname(path); ; at = dirname(at)) {
    above.unshift(at);
    if (at === dirname(at)) return above;
  }
}

function closed(
  what: string,
  path: string,
  { owner, mode }: Found,
  runsAs: RunsAs,
  verb: string,
  bits: string,
): string {
  const octal = `mode ${mode.toString(8).padStart(4, '0')}`;
  const remedy =
    runsAs === null || owner === runsAs
      ? `Correct its mode: chmod ${bits} ${path}`
      : `${owner === 0 ? 'Give' : `Run it as ${userName(owner)}, or give`} it to ${userName(runsAs)}: chown ${userName(runsAs)} ${path}`;
  return `${what}${path} belongs to ${user(owner)}, ${octal}; this program runs as ${user(runsAs ?? owner)} and cannot ${verb} it. ${remedy}.`;
}

function user(id: number): string {
  const name = userName(id);
  return name === String(id) ? `user ${id}` : `${name} (user ${id})`;
}

/** The name in /etc/passwd; otherwise the number, which `chown` also accepts. */
function userName(id: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((one) => one.split(':')[2] === String(id));
    return line?.split(':')[0] || String(id);
  } catch {
    return String(id);
  }
}
