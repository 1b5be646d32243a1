/** Backs up a running control plane: one folder with the database and the files that belong to it. */
import { chmodSync, constants, copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import {
  copyDatabase,
  copyRows,
  damageOf,
  isCurrent,
  isServer,
  openDatabase,
  type SecretBox,
  shownAddress,
} from '../db/index.ts';
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
const recordingsItem = 'recordings';

export interface BackupOptions {
  /** A file or a server. */
  readonly database: string;
  readonly dataFolder: string;
  readonly secrets: SecretBox;
  /** The folder to create. */
  readonly target: string;
  /** Seals the private files; null leaves them out. */
  readonly passphrase: string | null;
  /** Whether the files of recordings are copied too. */
  readonly recordings: boolean;
  readonly now: Date;
}

/**
 * Creates the folder under a temporary name and renames it once everything is in it and checked.
 * @throws OperationError
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const { database, dataFolder, target, passphrase } = options;
  if (pathExists(target)) throw new OperationError(`${target} exists already; name another folder.`);
  await checkSource(database);
  const partial = `${target}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    // The database first: a file that it references was written before it, and is copied after it.
    const damage = await copyOf(database, join(partial, databaseName));
    if (damage !== null) throw new OperationError(`the copy of the database ${damage}.`);
    const items = options.recordings ? [...sealedItems, recordingsItem] : sealedItems;
    const copied = items.flatMap((item) => copyItem(dataFolder, partial, item));
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

async function checkSource(database: string): Promise<void> {
  if (!isServer(database)) {
    if (!pathExists(database)) throw new OperationError(`There is no database at ${database}.`);
  } else if (!(await isCurrent(database))) {
    throw new OperationError(
      `${shownAddress(database)} has the tables of another version of the program, or none: ` +
        'use the program of that version.',
    );
  }
}

/** Always an SQLite file: one kind of backup, which either database can be restored from. @returns what is wrong with it */
async function copyOf(database: string, file: string): Promise<string | null> {
  if (!isServer(database)) return copyDatabase(database, file);
  const [server, copy] = [await openDatabase(database), await openDatabase(file)];
  try {
    await copyRows(server.db, copy.db);
  } finally {
    await copy.close();
    await server.close();
  }
  return damageOf(file);
}

/** Identifies a key without revealing it. */
export function keyFingerprint(secrets: SecretBox): string {
  return secrets.derive('backup key fingerprint').toString('hex').slice(0, 16);
}

function copyItem(from: string, to: string, item: string): string[] {
  return filesOf(from, item).filter((name) => {
    mkdirSync(dirname(join(to, name)), { recursive: true, mode: 0o700 });
    try {
      // Where the file system can, the copy shares its blocks with the original.
      copyFileSync(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
    } catch (error) {
      // Deleted since the folder was read.
      if (isMissing(error)) return false;
      throw error;
    }
    chmodSync(join(to, name), 0o600);
    return true;
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
