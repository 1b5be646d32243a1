/**
 * The pipes of a media worker. Each packet of an agent goes through one, so two things make it cheap: the packets of one
 * turn of the playout clock are one write, and messages are prepared. mediasoup builds a new message for each packet,
 * although they differ only in the packet and in the id of the stream, as long as the packet's length is the same.
 */
import { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Readable, Writable } from 'node:stream';
import type { types } from 'mediasoup';

/** Descriptors from which mediasoup's worker reads messages, and to which it writes them. */
const reads = 3;
const writes = 4;
/** Lengths of packets whose message is kept: all that audio has. */
const mostPrepared = 1500;
/**
 * Octets that wait for a worker which does not read: a third of a second of 200 calls. Later audio is of no use to
 * anybody, and on a machine that is too busy it took a gigabyte in ten minutes.
 */
const mostWaiting = 1_048_576;
/** Octets of messages that are gathered for one write: a turn of 200 calls. */
const blockSize = 65_536;

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

/** A message that mediasoup made. */
interface Prepared {
  readonly message: Uint8Array;
  /** Where the stream's id is in it, and where the packet. */
  readonly idAt: number;
  readonly at: number;
  /** Octets of the packet. */
  readonly length: number;
}

/**
 * The pipe to a worker. Messages of packets are gathered in one block, because a write of many buffers costs Node more than
 * to copy them; the block is used again when the worker's end of the pipe has taken all of it.
 */
export class WorkerPipe {
  readonly #stream: Writable;
  readonly #write: Writable['write'];
  /** What mediasoup writes while it is asked to send a packet; null: it asks the worker something. */
  #packets: Uint8Array[] | null = null;
  /** By length of the packet. One for all streams: those of each would be out of the caches. */
  readonly #prepared = new Map<number, Prepared>();
  #block = Buffer.alloc(0);
  /** What is gathered is between these. */
  #from = 0;
  #to = 0;
  #gathers = false;

  /** @param asked called before a write of mediasoup that is no packet */
  constructor(stream: Writable, asked: () => void = () => {}) {
    this.#stream = stream;
    this.#write = stream.write.bind(stream);
    Object.defineProperty(stream, 'write', {
      configurable: true,
      // Node replaces it when the worker is gone.
      writable: true,
      value: (message: Uint8Array, encoding: BufferEncoding) => {
        if (this.#packets) this.#packets.push(message);
        else asked();
        return this.#write(message, encoding);
      },
    });
  }

  /** Octets that the worker has not read. */
  get waiting(): number {
    return this.#stream.writableLength + this.#to - this.#from;
  }

  /** The message of packets of this length; undefined: mediasoup has made none yet. */
  prepared(length: number): Prepared | undefined {
    return this.#prepared.get(length);
  }

  /** Lets mediasoup send `packet` of the stream with this id after what is gathered, and keeps the message that it makes. */
  prepare(id: Buffer, packet: Buffer, send: () => void): void {
    this.flush();
    const packets: Uint8Array[] = [];
    this.#packets = packets;
    try {
      send();
    } finally {
      this.#packets = null;
    }
    const [message, ...more] = packets;
    if (!message || more.length > 0 || this.#prepared.size >= mostPrepared) return;
    const octets = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const [idAt, at] = [octets.indexOf(id), octets.indexOf(packet)];
    if (idAt >= 0 && at >= 0) this.#prepared.set(packet.length, { message, idAt, at, length: packet.length });
  }

  /** The messages that `work` adds are one write, after it. @returns what it returned */
  together<T>(work: () => T): T {
    this.#gathers = true;
    try {
      return work();
    } finally {
      this.#gathers = false;
      this.flush();
    }
  }

  /** Adds the message of `packet` of the stream with this id; all is copied. */
  add({ message, idAt, at }: Prepared, id: Buffer, packet: Uint8Array): void {
    if (this.#to + message.length > this.#block.length) {
      this.flush();
      this.#block = Buffer.allocUnsafeSlow(Math.max(blockSize, message.length));
      this.#from = 0;
      this.#to = 0;
    }
    this.#block.set(message, this.#to);
    this.#block.set(id, this.#to + idAt);
    this.#block.set(packet, this.#to + at);
    this.#to += message.length;
    if (!this.#gathers) this.flush();
  }

  /** Writes what is gathered: before anything of mediasoup that must come after it. */
  flush(): void {
    if (this.#from === this.#to) return;
    this.#write(this.#block.subarray(this.#from, this.#to));
    const isTaken = this.#stream.writableLength === 0;
    if (isTaken) this.#to = 0;
    this.#from = this.#to;
  }
}

/** Sends the packets of one stream. */
export class PacketSender {
  readonly #producer: Pick<types.Producer, 'id' | 'send' | 'closed'>;
  readonly #pipe: WorkerPipe | null;
  /** Ids of mediasoup have one length, so that each can take the place of another. */
  readonly #id: Buffer;
  /** The message of the packet before: most streams have packets of one length. */
  #last: Prepared | undefined;

  constructor(producer: Pick<types.Producer, 'id' | 'send' | 'closed'>, pipe: WorkerPipe | null) {
    this.#producer = producer;
    this.#pipe = pipe;
    this.#id = Buffer.from(producer.id, 'latin1');
  }

  /** The packet is copied before this returns, or dropped when the worker is too far behind. */
  send(packet: Buffer): void {
    const pipe = this.#pipe;
    if (this.#producer.closed || (pipe?.waiting ?? 0) > mostWaiting) return;
    if (this.#last?.length !== packet.length) this.#last = pipe?.prepared(packet.length);
    if (!pipe) this.#producer.send(packet);
    else if (this.#last) pipe.add(this.#last, this.#id, packet);
    else pipe.prepare(this.#id, packet, () => this.#producer.send(packet));
  }

  /** Nothing more is sent: what was sent is written before the end of the stream. */
  end(): void {
    this.#pipe?.flush();
  }
}
