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

interface Prepared {
  readonly message: Uint8Array;
  /** Where the packet is in it. */
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

  /** What is gathered is written before it. @returns what mediasoup writes when `send` makes it send a packet */
  watch(send: () => void): readonly Uint8Array[] {
    this.flush();
    const packets: Uint8Array[] = [];
    this.#packets = packets;
    try {
      send();
    } finally {
      this.#packets = null;
    }
    return packets;
  }

  /** The messages that `work` adds are one write, after it. */
  together(work: () => void): void {
    this.#gathers = true;
    try {
      work();
    } finally {
      this.#gathers = false;
      this.flush();
    }
  }

  /** Adds `message` with `packet` in it, beginning at `at`; both are copied. */
  add(message: Uint8Array, packet: Uint8Array, at: number): void {
    if (this.#to + message.length > this.#block.length) {
      this.flush();
      this.#block = Buffer.allocUnsafeSlow(Math.max(blockSize, message.length));
      this.#from = 0;
      this.#to = 0;
    }
    this.#block.set(message, this.#to);
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
  readonly #producer: Pick<types.Producer, 'send' | 'closed'>;
  readonly #pipe: WorkerPipe | null;
  /** By length of the packet. */
  readonly #prepared = new Map<number, Prepared>();
  /** That of the packet before: most streams have packets of one length. */
  #last: Prepared | undefined;

  constructor(producer: Pick<types.Producer, 'send' | 'closed'>, pipe: WorkerPipe | null) {
    this.#producer = producer;
    this.#pipe = pipe;
  }

  /** The packet is copied before this returns, or dropped when the worker is too far behind. */
  send(packet: Buffer): void {
    if (this.#producer.closed || (this.#pipe?.waiting ?? 0) > mostWaiting) return;
    if (this.#last?.length !== packet.length) this.#last = this.#prepared.get(packet.length);
    if (this.#pipe && this.#last) this.#pipe.add(this.#last.message, packet, this.#last.at);
    else this.#prepare(packet);
  }

  /** Nothing more is sent: what was sent is written before the end of the stream. */
  end(): void {
    this.#pipe?.flush();
  }

  /** Lets mediasoup send the packet, and keeps the message that it made. */
  #prepare(packet: Buffer): void {
    if (!this.#pipe) {
      this.#producer.send(packet);
      return;
    }
    const [message, ...more] = this.#pipe.watch(() => this.#producer.send(packet));
    if (!message || more.length > 0 || this.#prepared.size >= mostPrepared) return;
    const at = Buffer.from(message.buffer, message.byteOffset, message.byteLength).indexOf(packet);
    if (at >= 0) this.#prepared.set(packet.length, { message, at, length: packet.length });
  }
}
