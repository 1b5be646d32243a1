/** Recordings in S3-compatible storage: which one takes a recording, and how it is read there. */
import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import type { Database, Db, RecordingObjectRow, RecordingStorageRow, SecretBox } from '../../db/index.ts';
import type { RecordingContents } from '../contents.ts';
import { S3Client } from '../s3/client.ts';
import { findRecording, type PlacedRecording } from '../store.ts';
import { isStorageFault } from './faults.ts';
import { addObject, findObject } from './objects-store.ts';
import { Blocks, Readers, type Source } from './reading.ts';
import { findStorage, noteResult, secretOf, storageFor } from './storages-store.ts';

export interface StorageParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  /** Private networks that customers' storages may be in (contract 1.9). */
  readonly allowedTargets: BlockList;
  readonly recordingContents: RecordingContents;
}

/** The first answer about a recording that somebody waits for, and each block of it, ms. */
const openTimeoutMs = 10_000;
const blockTimeoutMs = 30_000;
/** When to read again, s. */
const retryAfterSeconds = 30;

/** A recording that is being read, wherever it is. */
export interface OpenRecording {
  readonly read: (from: number, to: number) => Promise<Buffer>;
}

/** Who reads a recording. */
export interface Reader {
  /** Its abort ends requests and gives the place back, whenever it comes. */
  readonly signal: AbortSignal;
  /** Called when the place was given to somebody else, because nothing was read for a while. */
  readonly lost: () => void;
}

export class RecordingStorage {
  readonly #parts: StorageParts;
  readonly #readers: Readers;
  readonly #listeners = new Set<() => void>();

  constructor(parts: StorageParts) {
    this.#parts = parts;
    this.#readers = new Readers(parts.clock);
  }

  /** In the transaction that makes a recording ready. Call `wake` after it. */
  async add(db: Db, { id, org_id, received }: PlacedRecording): Promise<void> {
    if (received === 0) return;
    const storage = await storageFor(db, org_id);
    if (!storage) return;
    const now = new Date(this.#parts.clock.now()).toISOString();
    await addObject(db, { id, org_id, storage_id: storage.id, size: received }, now);
  }

  /** Objects were stored that something is to be done with. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Returns a function that unsubscribes. */
  onStored(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param timeoutMs of each request; default: of a part */
  client(row: RecordingStorageRow, timeoutMs?: number): S3Client {
    return this.clientOf(row, row.org_id, secretOf(row, this.#parts.secrets), timeoutMs);
  }

  /** @param orgId null: the operator named the target */
  clientOf(
    row: Pick<RecordingStorageRow, 'url' | 'bucket' | 'region' | 'path_style' | 'access_key_id'>,
    orgId: string | null,
    secretAccessKey: string,
    timeoutMs?: number,
  ): S3Client {
    const bucket = {
      url: row.url,
      bucket: row.bucket,
      region: row.region,
      pathStyle: row.path_style === 1,
      accessKeyId: row.access_key_id,
      secretAccessKey,
      allowedTargets: orgId === null ? null : this.#parts.allowedTargets,
    };
    return new S3Client(this.#parts.clock, bucket, timeoutMs);
  }

  /**
   * Opens a recording to be read from its beginning to its end, or a part of it, until the reader's signal.
   * @throws ApiError RECORDING_NOT_FOUND when its octets are not there; 429, 503
   */
  async open(row: PlacedRecording, reader: Reader): Promise<OpenRecording> {
    const { recordingContents } = this.#parts;
    if (row.place === 'storage') return this.#openStored(row, reader);
    if (!(await recordingContents.has(row))) {
      // It may have been brought to a storage just now.
      const found = await this.#stored(row.id);
      if (found) return this.#openStored(found, reader);
      throw missing('this server');
    }
    let moved: OpenRecording | null = null;
    const read = async (from: number, to: number): Promise<Buffer> => {
      if (moved) return moved.read(from, to);
      const bytes = await readHere(this.#parts, row, from, to);
      if (bytes.length > 0) return bytes;
      const found = await this.#stored(row.id);
      if (!found) return bytes;
      moved = await this.#openStored(found, reader);
      return moved.read(from, to);
    };
    return { read };
  }

  async #stored(id: string): Promise<PlacedRecording | null> {
    const row = await findRecording(this.#parts.database.db, id);
    return row?.place === 'storage' && row.state === 'ready' ? row : null;
  }

  async #openStored(row: PlacedRecording, reader: Reader): Promise<OpenRecording> {
    const { storage, ...source } = await this.#sourceOf(row);
    const place = this.#readers.enter({ orgId: row.org_id, isOwn: storage.org_id !== null }, reader);
    try {
      const { key, size } = source;
      const isThere = await place.use((signal) => this.client(storage, openTimeoutMs).has(key, size, signal));
      if (!isThere) throw missing('its storage');
      if (storage.last_error !== null) await this.#note(storage, null);
    } catch (error) {
      place.leave();
      // Who has gone has ended the request: that says nothing of the storage.
      reader.signal.throwIfAborted();
      if (!isStorageFault(error)) throw error;
      await this.#note(storage, error.message);
      // What is beside the deployment concerns its operator alone.
      const why = storage.org_id === null ? 'its storage cannot be reached' : error.message;
      throw ApiError.unavailable(`the recording cannot be read: ${why}`, retryAfterSeconds);
    }
    const blocks = new Blocks(source, this.#parts.clock);
    return { read: (from, to) => place.use((signal) => blocks.read(from, to, signal)) };
  }

  #note({ id }: RecordingStorageRow, error: string | null): Promise<void> {
    const { clock, database } = this.#parts;
    return noteResult(database.db, id, error, new Date(clock.now()).toISOString());
  }

  async #sourceOf({ id }: PlacedRecording): Promise<Source & { readonly storage: RecordingStorageRow }> {
    const { db } = this.#parts.database;
    const object = await findObject(db, id);
    const storage = object && (await findStorage(db, object.storage_id));
    if (!storage) throw missing('its storage');
    return {
      client: this.client(storage, blockTimeoutMs),
      key: keyOf(storage, object),
      size: object.size,
      storage,
    };
  }
}

/** Of a recording in a bucket. */
export function keyOf(
  { prefix }: Pick<RecordingStorageRow, 'prefix'>,
  { id, org_id }: Pick<RecordingObjectRow, 'id' | 'org_id'>,
): string {
  return `${prefix}${org_id}/${id}`;
}

/** Octets that are not in a storage; none when they are gone. */
export async function readHere(
  { recordingContents }: Pick<StorageParts, 'recordingContents'>,
  row: PlacedRecording,
  from: number,
  to: number,
): Promise<Buffer> {
  try {
    return await recordingContents.read(row, from, to);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
}

function missing(where: string): ApiError {
  return ApiError.of('RECORDING_NOT_FOUND', undefined, `The file of the recording is not on ${where}.`);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
