/**
 * The pipes of a media worker. Each packet of an agent goes through one, so two things make it cheap: the packets of one
 * turn of the playout clock are one write, and messages are prepared. mediasoup builds a new message for each packet,
 * although those of one stream differ only in the packet, as long as its length is the same.
 */
import { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Readable, Writable } from 'node:stream';
import type { types } from 'mediasoup';

/** Descriptors from which mediasoup's worker reads messages, and to which it writes them. */
const reads = 3;
const writes = 4;
/** Lengths of packets whose message is kept; Opus has many. */
const mostPrepared = 200;
/**
 * Octets that wait for a worker which does not read: a third of a second of 200 calls. Later audio is of no use to
 * anybody, and on a machine that is too busy it took a gigabyte in ten minutes.
 */
const mostWaiting = 1_048_576;

/**
 * Calls `start`, which spawns a worker before it returns.
 * @returns what it returned, the worker's process, and the pipes to and from it; null where mediasoup has none
 */
export function catchPipes<T>(start: () => T): {
  readonly started: T;
  readonly process: ChildProcess | null;
  readonly to: Writable | null;
  readonly from: Readable | null;
} {
  const spawned: ChildProcess[] = [];
  const note = (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('process' in message)) return;
    if (message.process instanceof ChildProcess) spawned.push(message.process);
  };
  subscribe('child_process', note);
  try {
    const started = start();
    const [child = null] = spawned;
    const [to, from] = [child?.stdio[reads], child?.stdio[writes]];
    return {
      started,
      process: child,
      to: to instanceof Writable ? to : null,
      from: from instanceof Readable ? from : null,
    };
  } finally {
    unsubscribe('child_process', note);
  }
}

interface Prepared {
  readonly message: Uint8Array;
  /** Where the packet is in it. */
  readonly at: number;
}

/** Sends the packets of one stream. */
export class PacketSender {
  readonly #producer: Pick<types.Producer, 'send' | 'closed'>;
  readonly #pipe: Writable | null;
  /** By length of the packet. */
  readonly #prepared = new Map<number, Prepared>();

  constructor(producer: Pick<types.Producer, 'send' | 'closed'>, pipe: Writable | null) {
    this.#producer = producer;
    this.#pipe = pipe;
  }

  /** The packet is copied before this returns, or dropped when the worker is too far behind. */
  send(packet: Buffer): void {
    if (this.#producer.closed || (this.#pipe?.writableLength ?? 0) > mostWaiting) return;
    const prepared = this.#prepared.get(packet.length);
    if (!this.#pipe || !prepared) {
      this.#prepare(packet);
      return;
    }
    const { message, at } = prepared;
    // A part of a larger block that Node shares among small buffers: the pipe may keep it until later.
    const copy = Buffer.allocUnsafe(message.length);
    copy.set(message);
    copy.set(packet, at);
    this.#pipe.write(copy);
  }

  /** Lets mediasoup send the packet, and keeps the message that it made. */
  #prepare(packet: Buffer): void {
    const pipe = this.#pipe;
    if (!pipe || this.#prepared.size >= mostPrepared) {
      this.#producer.send(packet);
      return;
    }
    const written: Uint8Array[] = [];
    const write = pipe.write.bind(pipe);
    Object.defineProperty(pipe, 'write', {
      configurable: true,
      value: (message: Uint8Array) => {
        written.push(message);
        return write(message);
      },
    });
    try {
      this.#producer.send(packet);
    } finally {
      Reflect.deleteProperty(pipe, 'write');
    }
    const [message] = written;
    if (!message || written.length > 1) return;
    const at = Buffer.from(message.buffer, message.byteOffset, message.byteLength).indexOf(packet);
    if (at >= 0) this.#prepared.set(packet.length, { message, at });
  }
}
