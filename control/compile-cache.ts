/**
 * What Node makes of the sources (compiled code, TypeScript without its types) is kept in the data folder, so that a
 * restart does without the third of its work. It may be deleted at any time; where it cannot be written, all is
 * compiled again.
 */
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { constants, enableCompileCache } from 'node:module';
import { join } from 'node:path';

const folderName = 'compile-cache';

/**
 * To be called before what it is for is imported. Without effect before the first start has made the data folder, and
 * where anybody else could write into it: what lies there is run.
 * @param dataFolder `$TRUNKLINE_DATA`
 * @returns whether it is in use
 */
export function keepCompiled(dataFolder: string): boolean {
  try {
    const folder = join(dataFolder, folderName);
    if (!existsSync(join(dataFolder, 'control.lock')) || !isOurs(dataFolder)) return false;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOurs(folder)) return false;
    const { status } = enableCompileCache(folder);
    const { ALREADY_ENABLED, ENABLED } = constants.compileCacheStatus;
    return status === ENABLED || status === ALREADY_ENABLED;
  } catch {
    // A start does not need it.
    return false;
  }
}

/** A folder of this user, no link to one, into which nobody else can write. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}
