/**
 * How much of the edge's disk recordings may use. Counted in memory that threads share, so that every thread with media
 * writes without asking another.
 */

export const recordingLimits = {
  /** Octets of all recordings on the disk of an edge: 178 hours of audio. */
  mostBytes: 10_737_418_240,
};

/** Counted in these, because shared counters have 32 bits. */
const octetsPerBlock = 1_024;

export class DiskRoom {
  readonly #limit: number;
  readonly #used: Int32Array<SharedArrayBuffer>;

  /** @param shared of another thread's room with the same limit; absent: a room of its own */
  constructor(limitBytes: number, shared: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.#limit = Math.floor(limitBytes / octetsPerBlock);
    this.#used = new Int32Array(shared);
  }

  /** For the room of another thread. */
  get shared(): SharedArrayBuffer {
    return this.#used.buffer;
  }

  get usedBytes(): number {
    return Atomics.load(this.#used, 0) * octetsPerBlock;
  }

  /** Whether there is room; takes it then. */
  take(bytes: number): boolean {
    const blocks = blocksOf(bytes);
    if (Atomics.add(this.#used, 0, blocks) + blocks <= this.#limit) return true;
    Atomics.sub(this.#used, 0, blocks);
    return false;
  }

  /** Counts what is on the disk already, beyond the limit too. */
  count(bytes: number): void {
    Atomics.add(this.#used, 0, blocksOf(bytes));
  }

  give(bytes: number): void {
    Atomics.sub(this.#used, 0, blocksOf(bytes));
  }
}

function blocksOf(bytes: number): number {
  return Math.ceil(bytes / octetsPerBlock);
}
