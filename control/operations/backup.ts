/** Backs up a running control plane: one folder with the database and the files that belong to it. */
import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import SqliteFile from 'better-sqlite3';
import { pathExists } from '#shared/path-exists.ts';
import type { SecretBox } from '../db/index.ts';
import {
  type BackupFile,
  databaseName,
  describeFile,
  type Manifest,
  manifestName,
  privateName,
} from './manifest.ts';
import { OperationError } from './operation-error.ts';
import { filesOf, sealPrivateFiles } from './private-files.ts';

/** In the data folder; sealed file by file, so they are copied unchanged. */
const sealedItems: readonly string[] = ['port-documents'];

export interface BackupOptions {
  readonly databaseFile: string;
  readonly dataFolder: string;
  readonly secrets: SecretBox;
  /** The folder to create. */
  readonly target: string;
  /** Seals the private files; null leaves them out. */
  readonly passphrase: string | null;
  readonly now: Date;
}

/**
 * Creates the folder under a temporary name and renames it once everything is in it and checked.
 * @throws OperationError
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const { databaseFile, dataFolder, target, passphrase } = options;
  if (pathExists(target)) throw new OperationError(`${target} exists already; name another folder.`);
  if (!pathExists(databaseFile)) throw new OperationError(`There is no database at ${databaseFile}.`);
  const partial = `${target}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    // The database first: a file that it references was written before it, and is copied after it.
    await copyDatabase(databaseFile, join(partial, databaseName));
    const copied = sealedItems.flatMap((item) => copyItem(dataFolder, partial, item));
    if (passphrase !== null) {
      writeFileSync(join(partial, privateName), sealPrivateFiles(dataFolder, passphrase), { mode: 0o600 });
    }
    const names = [databaseName, ...copied, ...(passphrase === null ? [] : [privateName])];
    const files: BackupFile[] = [];
    for (const name of names) files.push(await describeFile(partial, name));
    const manifest: Manifest = {
      format: 1,
      made_at: options.now.toISOString(),
      key_fingerprint: keyFingerprint(options.secrets),
      has_private_files: passphrase !== null,
      files,
    };
    writeFileSync(join(partial, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    renameSync(partial, target);
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Identifies a key without revealing it. */
export function keyFingerprint(secrets: SecretBox): string {
  return secrets.derive('backup key fingerprint').toString('hex').slice(0, 16);
}

/** One step of SQLite's online backup: a consistent snapshot while others keep reading and writing. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new SqliteFile(from, { fileMustExist: true, timeout: 5000 });
  try {
    // A copy in many steps would restart with every write of another process.
    await source.backup(to, { progress: () => 2 ** 31 - 1 });
  } finally {
    source.close();
  }
  chmodSync(to, 0o600);
  const copy = new SqliteFile(to);
  try {
    copy.pragma('journal_mode = DELETE');
    checkDatabase(copy, 'the copy of the database');
  } finally {
    copy.close();
  }
}

/** @throws OperationError when SQLite finds the file damaged */
export function checkDatabase(database: SqliteFile.Database, name: string): void {
  const found: unknown = database.pragma('integrity_check', { simple: true });
  if (found !== 'ok') throw new OperationError(`${name} is damaged: ${String(found)}`);
  const dangling = database.pragma('foreign_key_check');
  if (Array.isArray(dangling) && dangling.length > 0)
    throw new OperationError(`${name} has ${dangling.length} references to rows that are not there.`);
}

function copyItem(from: string, to: string, item: string): string[] {
  const names = filesOf(from, item);
  for (const name of names) {
    mkdirSync(dirname(join(to, name)), { recursive: true, mode: 0o700 });
    cpSync(join(from, name), join(to, name));
    chmodSync(join(to, name), 0o600);
  }
  return names;
}
