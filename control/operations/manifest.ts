/** The contents of a backup folder, with a checksum of each file. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { OperationError } from './operation-error.ts';

const Manifest = Type.Object({
  format: Type.Literal(1),
  made_at: Type.String(),
  /** Identifies the key that the backup's secrets are sealed with, without revealing it. */
  key_fingerprint: Type.String(),
  /** Whether `private.sealed` exists. */
  has_private_files: Type.Boolean(),
  files: Type.Array(Type.Object({ path: Type.String(), bytes: Type.Integer(), sha256: Type.String() })),
});
export type Manifest = Static<typeof Manifest>;
export type BackupFile = Manifest['files'][number];

export const manifestName = 'manifest.json';
export const databaseName = 'control.db';
export const privateName = 'private.sealed';

/** @param path inside the backup folder */
export async function describeFile(folder: string, path: string): Promise<BackupFile> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(folder, path)), hash);
  return { path, bytes: statSync(join(folder, path)).size, sha256: hash.digest('hex') };
}

/**
 * Reads the manifest and verifies every file in it.
 * @throws OperationError when the folder is not a backup, or a file is missing or modified
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const manifest = parse(folder);
  for (const file of manifest.files) {
    // A manifest path must stay within the backup, because the file may be forged.
    if (file.path.split('/').includes('..'))
      throw new OperationError(`${file.path} leads out of the backup.`);
    const present = await describeFile(folder, file.path).catch(() => null);
    if (!present) throw new OperationError(`${file.path} is missing in the backup.`);
    if (present.sha256 !== file.sha256)
      throw new OperationError(`${file.path} was modified after the backup.`);
  }
  return manifest;
}

function parse(folder: string): Manifest {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'));
  } catch (error) {
    throw new OperationError(`${folder} is not a backup: its ${manifestName} cannot be read.`, {
      cause: error,
    });
  }
  if (Value.Check(Manifest, content)) return content;
  throw new OperationError(`${join(folder, manifestName)} is not of this version of the program.`);
}
