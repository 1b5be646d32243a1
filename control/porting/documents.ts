/**
 * Files of documents, each encrypted separately with AES-256-GCM (NIST SP 800-38D) under a key derived from the
 * deployment's:
 *
 *     <name>.part --row stored--> <name>
 *
 * A crash leaves a `.part`: with its row it is completed at the next start, without one it is deleted. A file under its
 * final name is always complete and always has a row.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecretBox } from '../db/index.ts';

const mark = Buffer.from('TLD1');
const ivBytes = 12;
const tagBytes = 16;
const partSuffix = '.part';

export class DocumentFiles {
  readonly #folder: string;
  readonly #key: Buffer;

  constructor(folder: string, secrets: SecretBox) {
    this.#folder = folder;
    this.#key = secrets.derive('port-documents');
  }

  /**
   * Writes a file, and stores a row for it before giving it its final name.
   * @param id of the document; the file can be opened for it only
   * @param store stores the row
   */
  async write(id: string, bytes: Uint8Array, store: (fileName: string) => Promise<void>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const fileName = randomBytes(16).toString('hex');
    const part = this.#path(fileName + partSuffix);
    try {
      const file = await open(part, 'wx', 0o600);
      try {
        await file.writeFile(this.#encrypted(id, bytes));
        await file.sync();
      } finally {
        await file.close();
      }
      await store(fileName);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    await rename(part, this.#path(fileName));
  }

  /** @throws Error when the file is missing, was modified, or belongs to another document */
  async read(id: string, fileName: string): Promise<Buffer> {
    const file = await readFile(this.#path(fileName));
    const ivEnd = mark.length + ivBytes;
    if (file.length < ivEnd + tagBytes || !file.subarray(0, mark.length).equals(mark))
      throw new Error(`the file of document ${id} has an unknown form`);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, file.subarray(mark.length, ivEnd), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(id))
      .setAuthTag(file.subarray(-tagBytes));
    return Buffer.concat([decipher.update(file.subarray(ivEnd, -tagBytes)), decipher.final()]);
  }

  async delete(fileName: string): Promise<void> {
    await rm(this.#path(fileName), { force: true });
  }

  /** Completes or deletes what a crash left. @returns how many files were left */
  async recover(isKnown: (fileName: string) => Promise<boolean>): Promise<number> {
    const parts = (await this.#files()).filter((name) => name.endsWith(partSuffix));
    for (const part of parts) {
      const fileName = part.slice(0, -partSuffix.length);
      if (await isKnown(fileName)) await rename(this.#path(part), this.#path(fileName));
      else await rm(this.#path(part), { force: true });
    }
    return parts.length;
  }

  async #files(): Promise<string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
  }

  #encrypted(id: string, bytes: Uint8Array): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(id));
    return Buffer.concat([mark, iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  #path(fileName: string): string {
    return join(this.#folder, fileName);
  }
}
