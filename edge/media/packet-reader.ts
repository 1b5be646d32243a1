/**
 * Packets from a media worker. They are taken out of the worker's messages before mediasoup gets these, which copies
 * each twice and hands it on only in a later turn of the event loop. All other messages go to mediasoup as before.
 *
 *     pipe ──chunks──> whole messages ──packet of a stream that is listened to──> its receiver
 *                                     └─────────all others, a few in a turn────> mediasoup
 *
 * The others are answers, and each takes the set-up of a leg further: those of forty legs came at once, and took 13 to 28 ms
 * in a turn of the event loop.
 *
 * The layout is that of FlatBuffers: a table begins with the distance to a list that says where each field is.
 */
import type { Readable } from 'node:stream';
import { type Pace, pacedReader } from '#shared/paced-reader.ts';

/** `Message.data` is a notification, and `Notification.event` a packet (worker/fbs/message.fbs, notification.fbs). */
const notification = 3;
const consumerRtp = 21;
/** Order of the fields of these tables. */
const messageFields = { dataType: 0, data: 1 };
const notificationFields = { handlerId: 0, event: 1, body: 3 };
const rtpFields = { data: 0 };
const prefixLength = 4;
/**
 * Ids of mediasoup are UUIDs of version 4 (RFC 9562 section 5.4). Of their random digits the first eight and the last eight
 * are looked at, 64 bits.
 */
const idLength = 36;
const keyAt = 0;
const restAt = 28;

/** The packet is overwritten after the call. */
type Receiver = (packet: Buffer) => void;

interface Listener {
  /** Of the consumer's id, the part that is not in the key. */
  readonly rest: number;
  readonly receiver: Receiver;
  /** Another one whose id has the same key. */
  next: Listener | null;
}

export class PacketReader {
  /**
   * By the key of their ids: to make a text of each packet's id costs as much as all else here, and octets to compare
   * would be out of the caches.
   */
  readonly #listeners = new Map<number, Listener>();
  readonly #forward: (message: Buffer) => void;
  /** The beginning of a message whose end has not come yet. */
  #rest: Buffer | null = null;
  /** Packets that were listened to, and all other messages, since the start. */
  packets = 0;
  others = 0;

  /** @param forward takes each message that is no packet, whole */
  constructor(forward: (message: Buffer) => void) {
    this.#forward = forward;
  }

  /** Reads a pipe in the place of its only listener, which gets what is left; null: it has another number of them. */
  static inFrontOf(pipe: Readable, pace?: Pace): PacketReader | null {
    const [mediasoup, ...others] = pipe.listeners('data');
    if (!mediasoup || others.length > 0) return null;
    const forward = (octets: Buffer) => void Reflect.apply(mediasoup, pipe, [octets]);
    const reader = new PacketReader(pacedReader(forward, pace));
    pipe.removeAllListeners('data');
    pipe.on('data', (chunk: Buffer) => reader.read(chunk));
    return reader;
  }

  /** @param id of a consumer. @returns ends it; null: it is no id of the form that is read here, and mediasoup has its packets */
  listen(id: string, receiver: Receiver): (() => void) | null {
    if (id.length !== idLength) return null;
    const octets = Buffer.from(id, 'latin1');
    const [key, rest] = [digitsOf(octets, keyAt), digitsOf(octets, restAt)];
    const listener: Listener = { rest, receiver, next: this.#listeners.get(key) ?? null };
    this.#listeners.set(key, listener);
    return () => this.#unlisten(key, listener);
  }

  /** Messages are parts of `chunk`. */
  read(chunk: Buffer): void {
    this.#read(chunk, (part) => part);
  }

  /** The same for a chunk that is overwritten after the call. */
  readReused(chunk: Buffer): void {
    this.#read(chunk, (part) => Buffer.from(part));
  }

  #read(chunk: Buffer, keep: (part: Buffer) => Buffer): void {
    const octets = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = null;
    let at = 0;
    while (at + prefixLength <= octets.length) {
      const end = at + prefixLength + octets.readUInt32LE(at);
      if (end > octets.length) break;
      if (this.#take(octets, at + prefixLength)) this.packets++;
      else {
        this.others++;
        this.#forward(keep(octets.subarray(at, end)));
      }
      at = end;
    }
    if (at < octets.length) this.#rest = keep(octets.subarray(at));
  }

  #unlisten(key: number, gone: Listener): void {
    const first = this.#listeners.get(key);
    if (first === gone) {
      if (gone.next) this.#listeners.set(key, gone.next);
      else this.#listeners.delete(key);
      return;
    }
    for (let one = first; one; one = one.next ?? undefined) if (one.next === gone) one.next = gone.next;
  }

  /** @returns whether the message is a packet that is listened to */
  #take(octets: Buffer, at: number): boolean {
    const message = follow(octets, at);
    const type = fieldOf(octets, message, messageFields.dataType);
    if (type === null || octets[type] !== notification) return false;
    const told = tableOf(octets, message, messageFields.data);
    const event = told === null ? null : fieldOf(octets, told, notificationFields.event);
    if (told === null || event === null || octets[event] !== consumerRtp) return false;
    const id = tableOf(octets, told, notificationFields.handlerId);
    const body = tableOf(octets, told, notificationFields.body);
    const data = body === null ? null : tableOf(octets, body, rtpFields.data);
    if (id === null || data === null || octets.readUInt32LE(id) !== idLength) return false;
    let listener = this.#listeners.get(digitsOf(octets, id + 4 + keyAt)) ?? null;
    if (listener) {
      const rest = digitsOf(octets, id + 4 + restAt);
      while (listener && listener.rest !== rest) listener = listener.next;
    }
    listener?.receiver(vectorOf(octets, data));
    return listener !== null;
  }
}

/** Eight hexadecimal digits as one number. */
function digitsOf(octets: Buffer, at: number): number {
  return Math.imul(octets.readInt32LE(at), 0x9e3779b1) ^ octets.readInt32LE(at + 4);
}

/** Where an offset leads. */
function follow(octets: Buffer, at: number): number {
  return at + octets.readUInt32LE(at);
}

/** Where a field of a table is; null: it is left out. */
function fieldOf(octets: Buffer, table: number, field: number): number | null {
  const places = table - octets.readInt32LE(table);
  const place = 4 + 2 * field;
  const offset = place < octets.readUInt16LE(places) ? octets.readUInt16LE(places + place) : 0;
  return offset === 0 ? null : table + offset;
}

/** The table, string or vector to which a field leads. */
function tableOf(octets: Buffer, table: number, field: number): number | null {
  const at = fieldOf(octets, table, field);
  return at === null ? null : follow(octets, at);
}

function vectorOf(octets: Buffer, at: number): Buffer {
  const length = octets.readUInt32LE(at);
  return octets.subarray(at + 4, at + 4 + length);
}
