/**
 * Files of documents, each encrypted separately with AES-256-GCM (NIST SP 800-38D) under a key derived from the
 * deployment's. Where several control planes use the database, they are in it, in parts: every one of them has them.
 * Otherwise they are in the data folder:
 *
 *     <name>.part --row stored--> <name>
 *
 * A crash leaves a `.part`: with its row it is completed at the next start, without one it is deleted. A file under its
 * final name is always complete and always has a row. A file can be read from either place, because a move of the database
 * or a restore changes the place; the next start puts files of the folder into a database that keeps them.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db, SecretBox } from '../db/index.ts';
import { deleteParts, insertParts, readParts } from './document-parts-store.ts';

const mark = Buffer.from('TLD1');
const ivBytes = 12;
const tagBytes = 16;
const partSuffix = '.part';

export interface DocumentFilesParts {
  readonly db: Db;
  readonly folder: string;
  /** Whether new files are stored in the database. */
  readonly isInDatabase: boolean;
  readonly secrets: SecretBox;
}

/** Stores a document's row in a transaction, after its content if that is in the database. */
type StoreRow = (fileName: string, content: (db: Db) => Promise<void>) => Promise<void>;

export class DocumentFiles {
  readonly #folder: string;
  readonly #key: Buffer;
  readonly #db: Db;
  readonly #isInDatabase: boolean;

  constructor({ db, folder, isInDatabase, secrets }: DocumentFilesParts) {
    this.#folder = folder;
    this.#key = secrets.derive('port-documents');
    this.#db = db;
    this.#isInDatabase = isInDatabase;
  }

  /**
   * Writes a file, and stores a row for it before giving it its final name.
   * @param id of the document; the file can be opened for it only
   * @param store stores the row
   */
  async write(id: string, bytes: Uint8Array, store: StoreRow): Promise<void> {
    const fileName = randomBytes(16).toString('hex');
    const content = this.#encrypted(id, bytes);
    if (this.#isInDatabase) return store(fileName, (db) => insertParts(db, fileName, content));
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const part = this.#path(fileName + partSuffix);
    try {
      const file = await open(part, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await store(fileName, async () => undefined);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    await rename(part, this.#path(fileName));
  }

  /** @throws Error when the file is missing, was modified, or belongs to another document */
  async read(id: string, fileName: string): Promise<Buffer> {
    const file = (await this.#fromFolder(fileName)) ?? (await readParts(this.#db, fileName));
    if (!file) throw new Error(`the file of document ${id} is missing`);
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
    await deleteParts(this.#db, fileName);
    await rm(this.#path(fileName), { force: true });
  }

  /**
   * Moves files of the folder into a database that keeps them: an earlier version, a restored backup or the database
   * before a move had them there. Without a row they stay.
   * @returns how many were moved
   */
  async moveIn(isKnown: (fileName: string) => Promise<boolean>): Promise<number> {
    if (!this.#isInDatabase) return 0;
    let moved = 0;
    for (const fileName of await this.#files()) {
      if (!(await isKnown(fileName))) continue;
      const content = await readFile(this.#path(fileName));
      await this.#db.transaction().execute(async (db) => {
        await deleteParts(db, fileName);
        await insertParts(db, fileName, content);
      });
      await rm(this.#path(fileName));
      moved++;
    }
    return moved;
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
    return (await unlessMissing(readdir(this.#folder))) ?? [];
  }

  async #fromFolder(fileName: string): Promise<Buffer | null> {
    return unlessMissing(readFile(this.#path(fileName)));
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

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
