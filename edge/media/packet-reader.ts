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

type Receiver = (packet: Buffer) => void;

export class PacketReader {
  readonly #receivers = new Map<string, Receiver>();
  readonly #forward: Receiver;
  /** The beginning of a message whose end has not come yet. */
  #rest: Buffer | null = null;

  /** @param forward takes each message that is no packet, whole */
  constructor(forward: Receiver) {
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

  /** @param id of a consumer. @returns ends it */
  listen(id: string, receiver: Receiver): () => void {
    this.#receivers.set(id, receiver);
    return () => void this.#receivers.delete(id);
  }

  read(chunk: Buffer): void {
    const octets = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = null;
    let at = 0;
    while (at + prefixLength <= octets.length) {
      const end = at + prefixLength + octets.readUInt32LE(at);
      if (end > octets.length) break;
      if (!this.#take(octets, at + prefixLength)) this.#forward(octets.subarray(at, end));
      at = end;
    }
    if (at < octets.length) this.#rest = octets.subarray(at);
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
    if (id === null || data === null) return false;
    const receiver = this.#receivers.get(textOf(octets, id));
    receiver?.(vectorOf(octets, data));
    return receiver !== undefined;
  }
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

function textOf(octets: Buffer, at: number): string {
  return octets.toString('latin1', at + 4, at + 4 + octets.readUInt32LE(at));
}
