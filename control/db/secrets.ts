/** Secrets at rest: AES-256-GCM (NIST SP 800-38D) under one key of the deployment. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ivBytes = 12;
const tagBytes = 16;
const formatMark = 'v1.';

export class SecretBox {
  readonly #key: Buffer;

  /** @param keyHex 64 hexadecimal digits */
  constructor(keyHex: string) {
    this.#key = Buffer.from(keyHex, 'hex');
    if (this.#key.length !== 32) throw new Error('The secret key must be 64 hexadecimal digits (32 bytes)');
  }

  /** @param context names what is sealed, such as `organization:<id>`; opening needs the same text */
  seal(secret: string, context: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return formatMark + sealed.toString('base64url');
  }

  /** @throws Error when the text was sealed under another key or context, or was altered */
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
      throw new Error(`The stored secret of ${context} does not open with this TRUNKLINE_SECRET_KEY`, {
        cause: error,
      });
    }
  }

  /** A value derived from the deployment's key: the same for the same input, unguessable without the key. */
  derive(input: string): Buffer {
    return createHmac('sha256', this.#key).update(`derive\0${input}`).digest();
  }
}

/** The key given by the operator, else the one in the data folder, made there (mode 0600) at the first start. */
export function loadSecretKey(given: string | null, dataFolder: string): string {
  if (given !== null) return given;
  const file = join(dataFolder, 'secret.key');
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
