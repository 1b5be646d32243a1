/**
 * Keeps Node's compiled code (also with types stripped) in the data folder, which saves a third of a restart's work and
 * the memory of the compiler. It may be deleted at any time; where it cannot be written, everything is compiled again.
 */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { constants, enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { isOwnFile } from './private-folder.ts';

const folderName = 'compile-cache';

/**
 * Call before importing what it is for. Does nothing before the first start has created the data folder, or where
 * anyone else can write to it, because its contents are executed. Programs that this one starts use it too.
 * @param dataFolder `$TRUNKLINE_DATA`
 * @returns whether it is in use
 */
export function keepCompiled(dataFolder: string): boolean {
  try {
    const folder = join(dataFolder, folderName);
    if (!readdirSync(dataFolder).some(isOwnFile) || !isOurs(dataFolder)) return false;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOurs(folder)) return false;
    const { status } = enableCompileCache(folder);
    const { ALREADY_ENABLED, ENABLED } = constants.compileCacheStatus;
    if (status !== ENABLED && status !== ALREADY_ENABLED) return false;
    process.env.NODE_COMPILE_CACHE ??= folder;
    return true;
  } catch {
    // The cache is optional.
    return false;
  }
}

/** A folder owned by this user, not a link, that nobody else can write to. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}
