/** Backs up a running control plane: one folder with the database and the files that belong to it. */
import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import { copyDatabase, type SecretBox } from '../db/index.ts';
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
    const damage = await copyDatabase(databaseFile, join(partial, databaseName));
    if (damage !== null) throw new OperationError(`the copy of the database ${damage}.`);
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

function copyItem(from: string, to: string, item: string): string[] {
  const names = filesOf(from, item);
  for (const name of names) {
    mkdirSync(dirname(join(to, name)), { recursive: true, mode: 0o700 });
    cpSync(join(from, name), join(to, name));
    chmodSync(join(to, name), 0o600);
  }
  return names;
}
