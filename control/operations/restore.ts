/** Replaces a control plane's data with a backup. Nothing is changed before the whole backup has been checked. */
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import {
  copyRows,
  damageOf,
  isEmpty,
  isServer,
  openDatabase,
  renameDatabase,
  SecretBox,
  shownAddress,
  withCompanions,
} from '../db/index.ts';
import { forgetEvents } from '../events/index.ts';
import { keyFingerprint } from './backup.ts';
import { databaseName, privateName, readManifest } from './manifest.ts';
import { OperationError } from './operation-error.ts';
import { openPrivateFiles, writePrivateFiles } from './private-files.ts';
import { refuseWhileServed } from './served.ts';

export interface RestoreOptions {
  /** The backup's folder. */
  readonly source: string;
  /** A file or a server. */
  readonly database: string;
  readonly dataFolder: string;
  /** TRUNKLINE_SECRET_KEY; null: the key is in the data folder or in the backup. */
  readonly secretKey: string | null;
  readonly passphrase: string | null;
  /** Whether existing data may be replaced. */
  readonly force: boolean;
  readonly now: Date;
}

export interface Restored {
  readonly madeAt: string;
  readonly files: number;
  /** New location of the previous database; null when there was none, or on a server, where it is replaced. */
  readonly replaced: string | null;
}

/** Where a restore puts the database and its files, for a person. */
export function restoredInto(database: string, dataFolder: string): string {
  return isServer(database) ? `${shownAddress(database)}, and its files into ${dataFolder}` : dataFolder;
}

/**
 * The caller holds the data folder, so that no control plane runs on it.
 * @throws OperationError, or DatabaseTooNew when the backup is from a newer version of the program
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { source, database, dataFolder } = options;
  const manifest = await readManifest(source);
  await checkTarget(options);
  const privateFiles = privateFilesOf(options, manifest.has_private_files);
  checkKey(options, privateFiles, manifest.key_fingerprint);
  const incoming = isServer(database)
    ? join(dataFolder, `${databaseName}.restoring`)
    : `${database}.restoring`;
  mkdirSync(dirname(incoming), { recursive: true, mode: 0o700 });
  const remove = () => {
    for (const file of withCompanions(incoming)) rmSync(file, { force: true });
  };
  // Of a restore that was killed.
  remove();
  try {
    cpSync(join(source, databaseName), incoming);
    chmodSync(incoming, 0o600);
    await bringUpToDate(incoming);
    const replaced = await putInPlace(incoming, options);
    const others = manifest.files.filter(({ path }) => path !== databaseName && path !== privateName);
    for (const { path } of others) {
      mkdirSync(dirname(join(dataFolder, path)), { recursive: true, mode: 0o700 });
      cpSync(join(source, path), join(dataFolder, path));
      chmodSync(join(dataFolder, path), 0o600);
    }
    writePrivateFiles(dataFolder, privateFiles);
    return { madeAt: manifest.made_at, files: manifest.files.length, replaced };
  } finally {
    remove();
  }
}

async function checkTarget({ database, force }: RestoreOptions): Promise<void> {
  if (!isServer(database)) {
    if (force || !pathExists(database)) return;
    throw new OperationError(`There is a database at ${database}; --force replaces it with the backup.`);
  }
  const server = await openDatabase(database);
  try {
    await refuseWhileServed(server.db, database);
    if (force || (await isEmpty(server.db))) return;
  } finally {
    await server.close();
  }
  throw new OperationError(
    `${shownAddress(database)} has rows already; --force replaces them, without a copy. Back it up before.`,
  );
}

/** @returns new location of the previous database, if it was kept */
async function putInPlace(incoming: string, { database, now }: RestoreOptions): Promise<string | null> {
  if (!isServer(database)) {
    const replaced = setAside(database, now);
    renameSync(incoming, database);
    return replaced;
  }
  const [backup, server] = [await openDatabase(incoming), await openDatabase(database)];
  try {
    await copyRows(backup.db, server.db);
  } finally {
    await backup.close();
    await server.close();
  }
  return null;
}

function privateFilesOf(options: RestoreOptions, hasThem: boolean): ReadonlyMap<string, Buffer> {
  if (!hasThem || options.passphrase === null) return new Map();
  return openPrivateFiles(readFileSync(join(options.source, privateName), 'utf8'), options.passphrase);
}

/** Without the right key, every stored secret would be lost at its first use. */
function checkKey(
  options: RestoreOptions,
  privateFiles: ReadonlyMap<string, Buffer>,
  expected: string,
): void {
  const inFolder = join(options.dataFolder, 'secret.key');
  const kept = pathExists(inFolder) ? readFileSync(inFolder, 'utf8') : null;
  const key = options.secretKey ?? privateFiles.get('secret.key')?.toString('utf8') ?? kept;
  const ways =
    'set TRUNKLINE_SECRET_KEY, put the secret.key of that time into the data folder, or set BACKUP_PASSPHRASE when ' +
    'the backup was made with one';
  if (key === null) throw new OperationError(`The key of the backup's secrets is not here: ${ways}.`);
  if (keyFingerprint(new SecretBox(key.trim())) !== expected)
    throw new OperationError(
      `The secrets of the backup cannot be decrypted with the key that is here: ${ways}.`,
    );
}

/** Applies migrations newer than the backup, and forgets its events, on the copy. */
async function bringUpToDate(file: string): Promise<void> {
  const damage = damageOf(file);
  if (damage !== null) throw new OperationError(`the database of the backup ${damage}.`);
  const copy = await openDatabase(file);
  try {
    await forgetEvents(copy.db);
  } finally {
    await copy.close();
  }
}

/** Also what is beside a database that is not there any more. @returns its new location; null: there was none */
function setAside(databaseFile: string, now: Date): string | null {
  const kept = `${databaseFile}.before-${now.toISOString().replaceAll(/[:.]/g, '-')}`;
  return renameDatabase(databaseFile, kept) ? kept : null;
}
