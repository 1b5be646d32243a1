/**
 * The most sensitive files: the key of stored secrets, first keys, private TLS keys. A backup includes them only sealed
 * with a passphrase; otherwise the operator keeps them elsewhere.
 */
import { randomBytes, scryptSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { pathExists } from '#shared/path-exists.ts';
import { SecretBox } from '../db/index.ts';
import { OperationError } from './operation-error.ts';

/** In the data folder; missing ones are skipped. */
export const privateItems: readonly string[] = ['secret.key', 'bootstrap.json', 'demo.json', 'tls'];

/** Path in the data folder to content in base64. */
type Contents = Record<string, string>;

const Sealed = Type.Object({ salt: Type.String(), sealed: Type.String() });
const context = 'backup:private';

/** Files under an item of a folder, as paths in the folder. */
export function filesOf(folder: string, item: string): string[] {
  const path = join(folder, item);
  if (!pathExists(path)) return [];
  if (statSync(path).isFile()) return [item];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(item, name))
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
    .sort();
}

export function sealPrivateFiles(dataFolder: string, passphrase: string): string {
  const names = privateItems.flatMap((item) => filesOf(dataFolder, item));
  const contents: Contents = Object.fromEntries(
    names.map((name) => [name, readFileSync(join(dataFolder, name)).toString('base64')]),
  );
  const salt = randomBytes(16).toString('hex');
  return JSON.stringify({ salt, sealed: boxOf(passphrase, salt).seal(JSON.stringify(contents), context) });
}

/** @throws OperationError when the passphrase is not the backup's */
export function openPrivateFiles(text: string, passphrase: string): ReadonlyMap<string, Buffer> {
  const bundle: unknown = JSON.parse(text);
  if (!Value.Check(Sealed, bundle))
    throw new OperationError('The private files of the backup cannot be read.');
  let contents: Contents;
  try {
    contents = JSON.parse(boxOf(passphrase, bundle.salt).open(bundle.sealed, context));
  } catch (error) {
    throw new OperationError('BACKUP_PASSPHRASE is not the one that the backup was made with.', {
      cause: error,
    });
  }
  return new Map(Object.entries(contents).map(([name, base64]) => [name, Buffer.from(base64, 'base64')]));
}

/** Writes files into the data folder, readable by their owner only. */
export function writePrivateFiles(dataFolder: string, files: ReadonlyMap<string, Buffer>): void {
  for (const [name, content] of files) {
    const path = join(dataFolder, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content, { mode: 0o600 });
  }
}

/** The key is stretched by scrypt (RFC 7914), so that a passphrase is slow to guess. */
function boxOf(passphrase: string, salt: string): SecretBox {
  const key = scryptSync(passphrase.normalize('NFC'), Buffer.from(salt, 'hex'), 32, {
    N: 32_768,
    r: 8,
    p: 1,
    maxmem: 64 * 1024 * 1024,
  });
  return new SecretBox(key.toString('hex'));
}
