import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SettingError } from '#shared/settings/reader.ts';
import { namingPath } from '#shared/storage-fault.ts';

/**
 * Locks a data folder for one control plane until the process ends, however it ends: two on one folder would overwrite
 * each other's bootstrap.json. The command line can still open the database.
 * @returns releases the folder
 * @throws SettingError when another control plane holds the folder
 */
export function holdDataFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'control.lock');
  const lock = namingPath(file, () => new Database(file, { timeout: 1_000 }));
  try {
    namingPath(file, () => lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;'));
  } catch (error) {
    lock.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new SettingError(
      `TRUNKLINE_DATA: another control plane uses ${folder}; stop it, or set another folder`,
    );
  }
  return () => lock.close();
}
