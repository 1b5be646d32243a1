/**
 * How much of the edge's disk recordings may use. Counted in memory that threads share, so that every thread with media
 * writes without asking another. What each has taken for files that it writes is counted apart: that of a thread which
 * died is given back at once.
 *
 *     complete files | taken by shard 0 | taken by shard 1 | …
 */

export const recordingLimits = {
  /** Octets of all recordings on the disk of an edge: 178 hours of audio. */
  mostBytes: 10_737_418_240,
};

/** Counted in these, because shared counters have 32 bits. */
const octetsPerBlock = 1_024;

export class DiskRoom {
  readonly #limit: number;
  /** The first number is that of complete files. */
  readonly #used: Int32Array<SharedArrayBuffer>;
  readonly #own: number;

  /**
   * @param shared of all threads; see `countsOf`
   * @param writer index of this thread; absent: the only one that writes
   */
  constructor(limitBytes: number, shared: SharedArrayBuffer = DiskRoom.countsOf(1), writer = 0) {
    this.#limit = Math.floor(limitBytes / octetsPerBlock);
    this.#used = new Int32Array(shared);
    this.#own = writer + 1;
  }

  /** Memory for the counts of so many threads. */
  static countsOf(writers: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (writers + 1));
  }

  /** For the room of another thread. */
  get shared(): SharedArrayBuffer {
    return this.#used.buffer;
  }

  get usedBytes(): number {
    return this.#usedBlocks() * octetsPerBlock;
  }

  /** Whether there is room for a file that this thread writes; takes it then. */
  take(bytes: number): boolean {
    const blocks = blocksOf(bytes);
    Atomics.add(this.#used, this.#own, blocks);
    if (this.#usedBlocks() <= this.#limit) return true;
    Atomics.sub(this.#used, this.#own, blocks);
    return false;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    Atomics.sub(this.#used, this.#own, blocksOf(bytes));
  }

  /** A file is complete. Beyond the limit too. */
  count(bytes: number): void {
    Atomics.add(this.#used, 0, blocksOf(bytes));
  }

  /** A complete file is deleted. */
  discount(bytes: number): void {
    Atomics.sub(this.#used, 0, blocksOf(bytes));
  }

  /** A thread that wrote is gone. */
  giveAllOf(writer: number): void {
    Atomics.store(this.#used, writer + 1, 0);
  }

  #usedBlocks(): number {
    let sum = 0;
    for (let i = 0; i < this.#used.length; i++) sum += Atomics.load(this.#used, i);
    return sum;
  }
}

function blocksOf(bytes: number): number {
  return Math.ceil(bytes / octetsPerBlock);
}
