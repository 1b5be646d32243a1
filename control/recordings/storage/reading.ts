/**
 * Reads a recording wherever it is, also when it is brought to a storage meanwhile. From a storage it is read in blocks,
 * which grow: each is a request on a connection of its own.
 */
import { ApiError } from '#shared/errors.ts';
import type { S3Client } from '../s3/client.ts';

const firstBlockBytes = 262_144;
const longestBlockBytes = 4 * 1_048_576;
/** Recordings that are read from storages at once; each has a block in memory. */
const mostReaders = 32;
/** Of one organization. */
const mostPerOrganization = 4;
/** When to ask again, s. */
const retryAfterSeconds = 5;

/** An object in a bucket. */
export interface Source {
  readonly client: S3Client;
  readonly key: string;
  readonly size: number;
}

/** One block of an object. */
export class Blocks {
  readonly #source: Source;
  #at = 0;
  #block: Buffer = Buffer.alloc(0);
  #nextBytes = firstBlockBytes;

  constructor(source: Source) {
    this.#source = source;
  }

  async read(from: number, to: number, signal: AbortSignal): Promise<Buffer> {
    const { client, key, size } = this.#source;
    const end = Math.min(to, size);
    if (from >= end) return Buffer.alloc(0);
    if (from < this.#at || end > this.#at + this.#block.length) {
      const blockEnd = Math.min(size, Math.max(end, from + this.#nextBytes));
      this.#block = await client.read(key, from, blockEnd, signal);
      this.#at = from;
      this.#nextBytes = Math.min(longestBlockBytes, 2 * this.#nextBytes);
    }
    return this.#block.subarray(from - this.#at, end - this.#at);
  }
}

/** Who reads from storages now. */
export class Readers {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /**
   * Takes a place. @returns a function that gives it back, once
   * @throws ApiError RATE_LIMITED when the organization has no more, SERVICE_UNAVAILABLE when there is none
   */
  enter(orgId: string): () => void {
    const count = this.#counts.get(orgId) ?? 0;
    if (count >= mostPerOrganization) {
      const details = { limit: mostPerOrganization, scope: 'organization_recordings_at_once' };
      throw ApiError.of('RATE_LIMITED', details).waiting(retryAfterSeconds);
    }
    if (this.#all >= mostReaders)
      throw ApiError.unavailable('too many recordings are being read; try again', retryAfterSeconds);
    this.#counts.set(orgId, count + 1);
    this.#all += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#all -= 1;
      const left = (this.#counts.get(orgId) ?? 1) - 1;
      if (left === 0) this.#counts.delete(orgId);
      else this.#counts.set(orgId, left);
    };
  }
}
