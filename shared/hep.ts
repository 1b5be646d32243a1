/**
 * HEP version 3, the capture protocol with which a SIP engine exports copies of its messages. The embedded engine and
 * drachtio-server both use it, so the edge traces calls the same way with either.
 *
 * A packet is `HEP3`, its total length (16 bit), then chunks of vendor (16), type (16), length including these six
 * octets (16) and value; all numbers big-endian.
 */

export interface HepEndpoint {
  readonly address: string;
  readonly port: number;
}

export interface HepPacket {
  /** Microseconds since the Unix epoch. */
  readonly at: number;
  readonly source: HepEndpoint;
  readonly destination: HepEndpoint;
  readonly transport: 'tls' | 'wss';
  /** From the engine's side; null when the sender does not say. */
  readonly direction: 'sent' | 'received' | null;
  /** Correlation id: the Call-ID. */
  readonly callId: string | null;
  /** The SIP message; octets beyond `maxPayload` are cut off. */
  readonly payload: Buffer;
}

const magic = 0x48455033;
const headerBytes = 6;
const chunkHeaderBytes = 6;

/** The generic chunk types (vendor 0) used here. */
const chunk = {
  family: 1,
  protocol: 2,
  sourceV4: 3,
  destinationV4: 4,
  sourceV6: 5,
  destinationV6: 6,
  sourcePort: 7,
  destinationPort: 8,
  seconds: 9,
  microseconds: 10,
  payloadType: 11,
  captureAgent: 12,
  authenticationKey: 14,
  payload: 15,
  correlation: 17,
} as const;

/** Our own chunks, under a private vendor number, for data without a HEP chunk type. */
const vendor = 0x7f4c;
const vendorTransport = 1;
const vendorDirection = 2;

/** Longest payload that fits into the 16-bit length beside the other chunks. */
export const maxPayload = 65_000;

class ChunkWriter {
  readonly #buffer: Buffer;
  #at = headerBytes;

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(bytes);
    this.#buffer.writeUInt32BE(magic, 0);
  }

  #head(vendorId: number, type: number, length: number): void {
    this.#buffer.writeUInt16BE(vendorId, this.#at);
    this.#buffer.writeUInt16BE(type, this.#at + 2);
    this.#buffer.writeUInt16BE(length + chunkHeaderBytes, this.#at + 4);
    this.#at += chunkHeaderBytes;
  }

  uint8(type: number, value: number, vendorId = 0): void {
    this.#head(vendorId, type, 1);
    this.#at = this.#buffer.writeUInt8(value, this.#at);
  }

  uint16(type: number, value: number): void {
    this.#head(0, type, 2);
    this.#at = this.#buffer.writeUInt16BE(value, this.#at);
  }

  uint32(type: number, value: number): void {
    this.#head(0, type, 4);
    this.#at = this.#buffer.writeUInt32BE(value, this.#at);
  }

  bytes(type: number, value: Buffer): void {
    this.#head(0, type, value.length);
    value.copy(this.#buffer, this.#at);
    this.#at += value.length;
  }

  finish(): Buffer {
    this.#buffer.writeUInt16BE(this.#at, 4);
    return this.#buffer.subarray(0, this.#at);
  }
}

/** A packet that contains only the authentication key: it identifies a new connection and is not a copy. */
export function encodeHepKey(key: string): Buffer {
  const octets = Buffer.from(key);
  const writer = new ChunkWriter(headerBytes + chunkHeaderBytes + octets.length);
  writer.bytes(chunk.authenticationKey, octets);
  return writer.finish();
}

/**
 * One HEP3 packet for the wire. On a stream, packets follow each other directly.
 * @param key shared with the receiver, at most 64 characters; null: none
 */
export function encodeHep(packet: HepPacket, key: string | null = null): Buffer {
  const payload =
    packet.payload.length > maxPayload ? packet.payload.subarray(0, maxPayload) : packet.payload;
  const callId = packet.callId === null ? null : Buffer.from(packet.callId.slice(0, 255), 'latin1');
  const secret = key === null ? null : Buffer.from(key);
  const writer = new ChunkWriter(220 + payload.length + (callId?.length ?? 0) + (secret?.length ?? 0));
  const v6 = packet.source.address.includes(':') || packet.destination.address.includes(':');
  writer.uint8(chunk.family, v6 ? 10 : 2);
  writer.uint8(chunk.protocol, 6);
  if (v6) {
    writer.bytes(chunk.sourceV6, ipv6Octets(packet.source.address));
    writer.bytes(chunk.destinationV6, ipv6Octets(packet.destination.address));
  } else {
    writer.bytes(chunk.sourceV4, ipv4Octets(packet.source.address));
    writer.bytes(chunk.destinationV4, ipv4Octets(packet.destination.address));
  }
  writer.uint16(chunk.sourcePort, packet.source.port);
  writer.uint16(chunk.destinationPort, packet.destination.port);
  writer.uint32(chunk.seconds, Math.floor(packet.at / 1e6));
  writer.uint32(chunk.microseconds, Math.floor(packet.at % 1e6));
  writer.uint8(chunk.payloadType, 1);
  writer.uint32(chunk.captureAgent, 1);
  if (secret !== null) writer.bytes(chunk.authenticationKey, secret);
  writer.uint8(vendorTransport, packet.transport === 'wss' ? 1 : 0, vendor);
  if (packet.direction !== null) writer.uint8(vendorDirection, packet.direction === 'sent' ? 1 : 0, vendor);
  if (callId !== null) writer.bytes(chunk.correlation, callId);
  writer.bytes(chunk.payload, payload);
  return writer.finish();
}

/** Checks the authentication key of a packet; null: it has none. */
export type AdmitsHep = (key: Buffer | null) => boolean;

/**
 * Reads one complete packet. Null when it is not a HEP3 packet with addresses, ports, a time and a payload, or its key
 * is not accepted.
 */
export function decodeHep(bytes: Buffer, admits: AdmitsHep = () => true): HepPacket | null {
  if (bytes.length < headerBytes || bytes.readUInt32BE(0) !== magic) return null;
  const end = bytes.readUInt16BE(4);
  return end > bytes.length ? null : packetAt(bytes, 0, end, admits);
}

/** Values are read where they are: a view of each would be half of what a copy of a message allocates. */
function packetAt(bytes: Buffer, start: number, end: number, admits: AdmitsHep): HepPacket | null {
  let sourceAddress: string | null = null;
  let destinationAddress: string | null = null;
  let sourcePort = -1;
  let destinationPort = -1;
  let seconds = -1;
  let microseconds = 0;
  let transport: 'tls' | 'wss' = 'tls';
  let direction: 'sent' | 'received' | null = null;
  let callId: string | null = null;
  let payload: Buffer | null = null;
  let key: Buffer | null = null;
  for (let at = start + headerBytes; at + chunkHeaderBytes <= end; ) {
    const vendorId = bytes.readUInt16BE(at);
    const type = bytes.readUInt16BE(at + 2);
    const from = at + chunkHeaderBytes;
    const next = at + bytes.readUInt16BE(at + 4);
    if (next < from || next > end) return null;
    const length = next - from;
    at = next;
    if (vendorId === vendor && length === 1) {
      if (type === vendorTransport) transport = bytes[from] === 1 ? 'wss' : 'tls';
      if (type === vendorDirection) direction = bytes[from] === 1 ? 'sent' : 'received';
    }
    if (vendorId !== 0) continue;
    if (type === chunk.sourceV4 && length === 4) sourceAddress = ipv4Text(bytes, from);
    else if (type === chunk.destinationV4 && length === 4) destinationAddress = ipv4Text(bytes, from);
    else if (type === chunk.sourceV6 && length === 16) sourceAddress = ipv6Text(bytes.subarray(from, next));
    else if (type === chunk.destinationV6 && length === 16)
      destinationAddress = ipv6Text(bytes.subarray(from, next));
    else if (type === chunk.sourcePort && length === 2) sourcePort = bytes.readUInt16BE(from);
    else if (type === chunk.destinationPort && length === 2) destinationPort = bytes.readUInt16BE(from);
    else if (type === chunk.seconds && length === 4) seconds = bytes.readUInt32BE(from);
    else if (type === chunk.microseconds && length === 4) microseconds = bytes.readUInt32BE(from);
    else if (type === chunk.correlation) callId = bytes.toString('latin1', from, next);
    else if (type === chunk.payload) payload = bytes.subarray(from, next);
    else if (type === chunk.authenticationKey) key = bytes.subarray(from, next);
  }
  if (!admits(key)) return null;
  if (sourceAddress === null || destinationAddress === null || payload === null) return null;
  if (sourcePort < 0 || destinationPort < 0 || seconds < 0) return null;
  return {
    at: seconds * 1e6 + microseconds,
    source: { address: sourceAddress, port: sourcePort },
    destination: { address: destinationAddress, port: destinationPort },
    transport,
    direction,
    callId,
    payload,
  };
}

/** Splits a byte stream into HEP3 packets. */
export class HepStream {
  #rest: Buffer = Buffer.alloc(0);
  readonly #admits: AdmitsHep;

  constructor(admits: AdmitsHep = () => true) {
    this.#admits = admits;
  }

  /**
   * Takes the next octets of the stream and returns the packets they complete.
   * @throws Error when the stream is not HEP3; it is then unusable
   */
  push(octets: Buffer): HepPacket[] {
    const bytes = this.#rest.length === 0 ? octets : Buffer.concat([this.#rest, octets]);
    const packets: HepPacket[] = [];
    let at = 0;
    try {
      while (bytes.length - at >= headerBytes) {
        if (bytes.readUInt32BE(at) !== magic) throw new Error('not a HEP3 stream');
        const length = bytes.readUInt16BE(at + 4);
        if (length < headerBytes) throw new Error('HEP3 packet shorter than its header');
        if (bytes.length - at < length) break;
        const packet = packetAt(bytes, at, at + length, this.#admits);
        if (packet) packets.push(packet);
        at += length;
      }
    } finally {
      // Also after an error: each later push then meets what cannot be read.
      this.#rest = bytes.subarray(at);
    }
    return packets;
  }
}

function ipv4Text(bytes: Buffer, at: number): string {
  return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
}

function ipv4Octets(address: string): Buffer {
  const octets = Buffer.alloc(4);
  address.split('.').forEach((part, index) => {
    octets[index] = Number(part);
  });
  return octets;
}

/** An IPv4 address in an IPv6 packet is written as a mapped one (RFC 4291 section 2.5.5.2). */
function ipv6Octets(address: string): Buffer {
  const octets = Buffer.alloc(16);
  const lastColon = address.lastIndexOf(':');
  const dotted = address.includes('.') ? ipv4Octets(address.slice(lastColon + 1)) : null;
  if (lastColon === -1) {
    octets.fill(0xff, 10, 12);
    ipv4Octets(address).copy(octets, 12);
    return octets;
  }
  const text = dotted
    ? `${address.slice(0, lastColon + 1)}${dotted.readUInt16BE(0).toString(16)}:${dotted.readUInt16BE(2).toString(16)}`
    : address;
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  left.forEach((group, index) => {
    octets.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  });
  right.forEach((group, index) => {
    octets.writeUInt16BE(Number.parseInt(group, 16), 16 - (right.length - index) * 2);
  });
  return octets;
}

function ipv6Text(octets: Buffer): string {
  if (octets.readUInt32BE(0) === 0 && octets.readUInt32BE(4) === 0 && octets.readUInt32BE(8) === 0xffff) {
    return ipv4Text(octets, 12);
  }
  const groups = Array.from({ length: 8 }, (_, index) => octets.readUInt16BE(index * 2).toString(16));
  const zeros = /(?:^|:)0(?::0)+(?=:|$)/.exec(groups.join(':'));
  const text = groups.join(':');
  if (!zeros) return text;
  const before = text.slice(0, zeros.index);
  const after = text.slice(zeros.index + zeros[0].length);
  return `${before}::${after.replace(/^:/, '')}`;
}
