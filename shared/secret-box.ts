/** Secrets at rest: AES-256-GCM (NIST SP 800-38D) under one key. Both programs use it, each with its own key. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SettingError } from './settings/reader.ts';
import { namingPath } from './storage-fault.ts';

const ivBytes = 12;
const tagBytes = 16;
const formatMark = 'v1.';

export class SecretBox {
  /** Node takes several times as long for each secret with the octets of a key. */
  readonly #key: KeyObject;

  /** @param keyHex 64 hexadecimal digits */
  constructor(keyHex: string) {
    const key = Buffer.from(keyHex, 'hex');
    if (key.length !== 32) throw new Error('The secret key must be 64 hexadecimal digits (32 bytes)');
    this.#key = createSecretKey(key);
  }

  /** @param context identifies the secret, such as `organization:<id>`; `open` needs the same text */
  seal(secret: string, context: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return formatMark + sealed.toString('base64url');
  }

  /** @throws Error when the text was encrypted with another key or context, or was altered */
  open(sealed: string, context: string): string {
    if (!sealed.startsWith(formatMark))
      throw new Error(`The stored secret of ${context} has an unknown form`);
    const bytes = Buffer.from(sealed.slice(formatMark.length), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-tagBytes));
    try {
      const text = decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8');
      return text + decipher.final('utf8');
    } catch (error) {
      throw new Error(`The stored secret of ${context} cannot be decrypted with this key`, {
        cause: error,
      });
    }
  }

  /** A value derived from the key: the same for the same input, and unguessable without the key. */
  derive(input: string): Buffer {
    return createHmac('sha256', this.#key).update(`derive\0${input}`).digest();
  }
}

/**
 * The key stored in a file; null: the file does not exist.
 * @throws SettingError when the file contains something else, Error when it cannot be read
 */
export function keptKey(file: string): string | null {
  const text = textOf(file);
  if (text === null || /^[0-9a-f]{64}$/i.test(text)) return text;
  throw new SettingError(
    `${file} must contain a key of 64 hexadecimal digits (32 bytes); restore the original file`,
  );
}

function textOf(file: string): string | null {
  try {
    return namingPath(file, () => readFileSync(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * The key stored in a file, created (mode 0600) at the first start.
 * @throws Error when it can be neither read nor created
 */
export function keyOfFile(file: string): string {
  const kept = keptKey(file);
  if (kept !== null) return kept;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Renamed when complete: a full disk or a crash leaves no partial key, and of two programs one wins.
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}
