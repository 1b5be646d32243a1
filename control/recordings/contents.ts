/**
 * The octets of recordings, as edges sealed them: in a folder, or in the database where several control planes use it.
 * What is read comes from where it was written.
 */
import { statSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { storageFault } from '#shared/storage-fault.ts';
import type { Db, RecordingRow, Replica } from '../db/index.ts';
import { advanceRecording, isKept } from './store.ts';

/** Of one row. */
const partBytes = 65_536;

/** Those in a storage are not read here (storage/storage.ts). */
type Placed = Pick<RecordingRow, 'id' | 'place'>;

export class RecordingContents {
  readonly #db: Db;
  readonly #folder: string;
  readonly #replica: Pick<Replica, 'hasOthers'>;
  #failures = 0;

  /** @param replica with others, new recordings are stored in the database */
  constructor(db: Db, dataFolder: string, replica: Pick<Replica, 'hasOthers'>) {
    this.#db = db;
    this.#folder = join(dataFolder, 'recordings');
    this.#replica = replica;
  }

  get place(): 'folder' | 'database' {
    return this.#replica.hasOthers ? 'database' : 'folder';
  }

  /** Writes to the folder that its disk did not take. */
  get failures(): number {
    return this.#failures;
  }

  /** Adds octets at the end. @returns false when the end is elsewhere, or nothing more is taken */
  async append({ id, place }: Placed, at: number, bytes: Buffer): Promise<boolean> {
    const end = at + bytes.length;
    if (place === 'folder') {
      // On the disk before its row says so; what a crash left after the row's end is written again.
      return this.#unlessDeleted(id, async () => {
        await this.#write(id, at, bytes).catch((error: unknown) => {
          if (storageFault(error) !== null) this.#failures++;
          throw error;
        });
        return advanceRecording(this.#db, id, at, end);
      });
    }
    return this.#db.transaction().execute(async (trx) => {
      if (!(await advanceRecording(trx, id, at, end))) return false;
      const rows = [];
      for (let from = 0; from < bytes.length; from += partBytes)
        rows.push({ recording_id: id, at: at + from, bytes: bytes.subarray(from, from + partBytes) });
      if (rows.length > 0) await trx.insertInto('recording_parts').values(rows).execute();
      return true;
    });
  }

  /** Of one that was deleted meanwhile no file stays: what deleted it may have looked for the file before there was one. */
  async #unlessDeleted(id: string, add: () => Promise<boolean>): Promise<boolean> {
    let added = false;
    try {
      added = await add();
    } catch (error) {
      if (await isKept(this.#db, id)) throw error;
    }
    if (!added && !(await isKept(this.#db, id))) await this.delete(id);
    return added;
  }

  /** The octets `from..to`; fewer at the end. */
  async read({ id, place }: Placed, from: number, to: number): Promise<Buffer> {
    if (place === 'folder') return this.#readFile(id, from, to);
    const rows = await this.#db
      .selectFrom('recording_parts')
      .select(['at', 'bytes'])
      .where('recording_id', '=', id)
      .where('at', '>', from - partBytes)
      .where('at', '<', to)
      .orderBy('at')
      .execute();
    const [first] = rows;
    if (!first) return Buffer.alloc(0);
    return Buffer.concat(rows.map(({ bytes }) => bytes)).subarray(
      Math.max(0, from - first.at),
      to - first.at,
    );
  }

  /**
   * Whether all its octets are here, so that no answer ends half way: a backup may have been restored without them, or
   * beside another control plane.
   */
  async has({ id, place, received }: Placed & Pick<RecordingRow, 'received'>): Promise<boolean> {
    const octets = place === 'folder' ? octetsOf(this.#path(id)) : await this.#octetsOfParts(id);
    return octets !== null && octets >= received;
  }

  async #octetsOfParts(id: string): Promise<number | null> {
    const stored = await this.#db
      .selectFrom('recording_parts')
      .select(sql<number>`cast(coalesce(sum(length(bytes)), 0) as bigint)`.as('octets'))
      .where('recording_id', '=', id)
      .executeTakeFirst();
    return stored?.octets ?? null;
  }

  /** Deletes the file; parts in the database go with the row's change. */
  async delete(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  async #write(id: string, at: number, bytes: Buffer): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = await open(this.#path(id), at === 0 ? 'w' : 'r+', 0o600);
    try {
      for (let written = 0; written < bytes.length; )
        written += (await file.write(bytes, written, bytes.length - written, at + written)).bytesWritten;
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  async #readFile(id: string, from: number, to: number): Promise<Buffer> {
    const file = await open(this.#path(id), 'r');
    try {
      const bytes = Buffer.alloc(to - from);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, from + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    } finally {
      await file.close();
    }
  }

  #path(id: string): string {
    return join(this.#folder, id);
  }
}

/** null: there is no file. @throws the system's error when this user cannot see it */
function octetsOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}
