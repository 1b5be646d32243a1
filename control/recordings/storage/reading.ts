/**
 * Reads a recording wherever it is, also when it is brought to a storage meanwhile. From a storage it is read in blocks,
 * which grow: each is a request on a connection of its own.
 */
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { pause } from '../../db/index.ts';
import type { S3Client } from '../s3/client.ts';
import { isBusy } from './faults.ts';

const firstBlockBytes = 262_144;
const longestBlockBytes = 4 * 1_048_576;
/** Recordings that are read from storages at once; each has a block in memory. */
const mostReaders = 32;
/** Of those, in storages of organizations: a place that is left for the operator's storage waits for no customer's server. */
const mostOfOwn = 24;
/** Of one organization. */
const mostPerOrganization = 4;
/** Time without a read after which a place is given to somebody who needs it, ms. */
const idleMs = 30_000;
/** Before a block is asked for again, ms. */
const pausesMs = [200, 1_000] as const;
/** When to ask again, s. */
const retryAfterSeconds = 5;

/** An object in a bucket. */
export interface Source {
  readonly client: S3Client;
  readonly key: string;
  readonly size: number;
}

/** One block of an object. A storage that is busy for a moment cuts no recording in the midst of it. */
export class Blocks {
  readonly #source: Source;
  readonly #clock: Clock;
  #at = 0;
  #block: Buffer = Buffer.alloc(0);
  #nextBytes = firstBlockBytes;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  async read(from: number, to: number, signal: AbortSignal): Promise<Buffer> {
    const { size } = this.#source;
    const end = Math.min(to, size);
    if (from >= end) return Buffer.alloc(0);
    if (from < this.#at || end > this.#at + this.#block.length) {
      const blockEnd = Math.min(size, Math.max(end, from + this.#nextBytes));
      this.#block = await this.#fetch(from, blockEnd, signal);
      this.#at = from;
      this.#nextBytes = Math.min(longestBlockBytes, 2 * this.#nextBytes);
    }
    return this.#block.subarray(from - this.#at, end - this.#at);
  }

  async #fetch(from: number, to: number, signal: AbortSignal): Promise<Buffer> {
    const { client, key } = this.#source;
    for (const pauseMs of pausesMs) {
      try {
        return await client.read(key, from, to, signal);
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      await pause(pauseMs, this.#clock);
      signal.throwIfAborted();
    }
    return client.read(key, from, to, signal);
  }
}

/** Whose storage is read. */
interface Place {
  readonly orgId: string;
  /** Whether the storage is the organization's, not the operator's. */
  readonly isOwn: boolean;
}

interface Waiting {
  readonly signal: AbortSignal;
  readonly lost: () => void;
}

/** A place of somebody who reads, until it is left or lost. */
class ReaderPlace {
  readonly orgId: string;
  readonly isOwn: boolean;
  readonly #clock: Clock;
  readonly #reader: Waiting;
  readonly #left: () => void;
  readonly #ending = new AbortController();
  readonly #end = () => this.leave();
  #using = 0;
  #usedAt: number;

  constructor(clock: Clock, { orgId, isOwn }: Place, reader: Waiting, left: () => void) {
    this.orgId = orgId;
    this.isOwn = isOwn;
    this.#clock = clock;
    this.#reader = reader;
    this.#left = left;
    this.#usedAt = clock.elapsed();
    reader.signal.addEventListener('abort', this.#end, { once: true });
  }

  /** How long nothing was read, ms. */
  get idleMs(): number {
    return this.#using > 0 ? 0 : this.#clock.elapsed() - this.#usedAt;
  }

  async use<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#ending;
    signal.throwIfAborted();
    this.#using += 1;
    try {
      return await work(signal);
    } finally {
      this.#using -= 1;
      this.#usedAt = this.#clock.elapsed();
    }
  }

  /** Can be called twice. */
  leave(): void {
    this.#reader.signal.removeEventListener('abort', this.#end);
    this.#ending.abort(new Error('the reader has no place any more'));
    this.#left();
  }

  lose(): void {
    this.leave();
    this.#reader.lost();
  }
}

/** Who reads from storages now. */
export class Readers {
  readonly #clock: Clock;
  readonly #places = new Set<ReaderPlace>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes a place, if need be of somebody who has read nothing for a while.
   * @throws ApiError RATE_LIMITED when the organization has no more, SERVICE_UNAVAILABLE when there is none; the reason of
   * the reader's signal
   */
  enter(place: Place, reader: Waiting): ReaderPlace {
    reader.signal.throwIfAborted();
    const isFull = (most: number, counts: (one: ReaderPlace) => boolean) => {
      const taken = [...this.#places].filter(counts);
      return taken.length >= most && !loseIdle(taken);
    };
    if (isFull(mostPerOrganization, ({ orgId }) => orgId === place.orgId)) {
      const details = { limit: mostPerOrganization, scope: 'organization_recordings_at_once' };
      throw ApiError.of('RATE_LIMITED', details).waiting(retryAfterSeconds);
    }
    if ((place.isOwn && isFull(mostOfOwn, ({ isOwn }) => isOwn)) || isFull(mostReaders, () => true))
      throw ApiError.unavailable('too many recordings are being read; try again', retryAfterSeconds);
    const taken: ReaderPlace = new ReaderPlace(this.#clock, place, reader, () => this.#places.delete(taken));
    this.#places.add(taken);
    return taken;
  }
}

/** Ends the place that was idle the longest, if it was for long enough. @returns whether it was */
function loseIdle(places: readonly ReaderPlace[]): boolean {
  const [longest] = [...places].sort((one, other) => other.idleMs - one.idleMs);
  if (longest === undefined || longest.idleMs < idleMs) return false;
  longest.lose();
  return true;
}
