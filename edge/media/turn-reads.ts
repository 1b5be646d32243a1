/**
 * When the pipe from a media worker is read. With many calls the worker writes 2,000 times a second, and for each of its
 * writes Node would wake up and make a chunk. The packets are not played before a turn of the playout clock, so they wait
 * for it in the pipe and are read in one go, right before the turn.
 *
 *              many packets, and nothing else, since the turn before
 *     at once ───────────────────────────────────────────────────────> at turns
 *             <───────────────────────────────────────────────────────
 *              few packets, another message, a request to the worker,
 *              the next turn far away or none, the end of the pipe
 *
 * While something is asked of the worker its answers are read at once: each of them takes the set-up of a leg further.
 */
import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { PacketReader } from './packet-reader.ts';

/** Packets since the turn before that make waiting worth while: 16 calls. */
const busyPackets = 4;
/**
 * The next turn is at most so far away, ms: waiting rounds times of arrival, from which jitter and the depth of jitter
 * buffers follow. Turns are 5 ms apart and up to one early; they are 20 ms apart when the legs that are left have all of
 * theirs at one time.
 */
const nearMs = 7;
/** Octets that are read at once: a turn of 200 calls, three times over. */
const blockSize = 65_536;
/** Blocks in one turn, so that reading ends; what is left waits for the next one. */
const mostBlocks = 16;

/** Node's end of a pipe, which streams have and do not show. */
interface PipeEnd {
  readonly fd: number;
  readStart(): void;
  readStop(): void;
}

export class TurnReads {
  readonly #pipe: Readable;
  readonly #reader: PacketReader;
  readonly #block = Buffer.allocUnsafeSlow(blockSize);
  /** While packets wait. */
  #end: PipeEnd | null = null;
  #asked = false;
  /** What the reader had counted after the turn before. */
  #packets = 0;
  #others = 0;

  /** @param reader of the pipe's chunks */
  constructor(pipe: Readable, reader: PacketReader) {
    this.#pipe = pipe;
    this.#reader = reader;
  }

  /** Whether packets wait for the next turn. */
  get waits(): boolean {
    return this.#end !== null;
  }

  /** Before a turn: reads what has come since the one before. */
  begin(): void {
    for (let blocks = 0; this.#end && blocks < mostBlocks; blocks++) {
      if (!this.#readBlock(this.#end)) return;
    }
  }

  /** After a turn: decides how what comes until the next one is read. */
  end(untilNextMs: number): void {
    const { packets, others } = this.#reader;
    const isBusy =
      packets - this.#packets >= busyPackets &&
      untilNextMs <= nearMs &&
      others === this.#others &&
      !this.#asked;
    this.#packets = packets;
    this.#others = others;
    this.#asked = false;
    if (!isBusy) this.atOnce();
    else if (!this.#end) this.#wait();
  }

  /** The worker was asked something. */
  asked(): void {
    this.#asked = true;
    this.atOnce();
  }

  /** What comes is read when it comes, until a turn decides otherwise. */
  atOnce(): void {
    if (!this.#end) return;
    this.#end = null;
    endOf(this.#pipe)?.readStart();
  }

  #wait(): void {
    this.#end = endOf(this.#pipe);
    this.#end?.readStop();
  }

  /** @returns whether there may be more */
  #readBlock({ fd }: PipeEnd): boolean {
    const length = fd < 0 ? 0 : read(fd, this.#block);
    // Nothing came, or nothing will: the stream finds out which.
    if (length === 0) this.atOnce();
    else this.#reader.readReused(this.#block.subarray(0, length));
    return length === blockSize;
  }
}

/** @returns octets read; 0 when there are none, at the end, and on failure */
function read(fd: number, block: Buffer): number {
  try {
    return readSync(fd, block);
  } catch {
    return 0;
  }
}

/** Null: it is closed, or this version of Node has no such thing. */
function endOf(pipe: Readable): PipeEnd | null {
  const end: unknown = Reflect.get(pipe, '_handle');
  return isPipeEnd(end) ? end : null;
}

function isPipeEnd(end: unknown): end is PipeEnd {
  if (typeof end !== 'object' || end === null) return false;
  const fd: unknown = Reflect.get(end, 'fd');
  const methods = [Reflect.get(end, 'readStart'), Reflect.get(end, 'readStop')];
  return typeof fd === 'number' && fd >= 0 && methods.every((method) => typeof method === 'function');
}
