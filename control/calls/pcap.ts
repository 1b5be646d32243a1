/**
 * Writes a SIP trace as a capture file (libpcap format, link type 101 LINKTYPE_RAW): IPv4 or IPv6 packets with TCP
 * segments that carry the decrypted messages. Pure.
 *
 * Three things differ from the trace, so that tools can dissect it. The TLS port 5061 becomes 5060, because plain text
 * on 5061 would be taken for broken TLS. Content-Length matches the body in the file, because redaction shortens
 * bodies. A redacted SRTP key keeps the length of a key.
 */
import { isIPv6 } from 'node:net';
import type { TraceMessage } from '#shared/edge-protocol/calls.ts';

const linkTypeRaw = 101;
/** Larger messages are split; every IP packet must stay under 65,536 bytes. */
const segmentBytes = 32_768;
const tlsPort = 5061;
const plainPort = 5060;

/** The capture file. Messages are written in the given order. */
export function writePcap(messages: readonly TraceMessage[]): Buffer {
  const chunks = [fileHeader()];
  const sequences = new Map<string, number>();
  messages.forEach((message, index) => {
    const local = parseEndpoint(message.local, tlsPort);
    const remote = parseEndpoint(message.remote, plainPort);
    const sent = message.direction === 'sent';
    const [from, to] = asSip(sent ? [local, remote] : [remote, local]);
    const payload = Buffer.from(withTrueLength(withWholeKeys(message.raw)), 'utf8');
    for (let offset = 0; offset < payload.length; offset += segmentBytes) {
      const segment = payload.subarray(offset, offset + segmentBytes);
      const [forward, back] = [`${flow(from)}>${flow(to)}`, `${flow(to)}>${flow(from)}`];
      const sequence = sequences.get(forward) ?? 1;
      const acknowledged = sequences.get(back) ?? 1;
      const packet = ipPacket(from, to, tcpSegment(from, to, sequence, acknowledged, segment), index);
      chunks.push(recordHeader(message.at, packet.length), packet);
      sequences.set(forward, (sequence + segment.length) >>> 0);
    }
  });
  return Buffer.concat(chunks);
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** The address in network byte order: 4 or 16 bytes. */
  readonly bytes: Buffer;
}

/** @param text `address:port`, IPv6 in brackets; unreadable addresses become 0.0.0.0 */
function parseEndpoint(text: string, defaultPort: number): Endpoint {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::([0-9]+))?$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? '0.0.0.0';
  const port = Number(match?.[3] ?? defaultPort);
  const bytes = isIPv6(address) ? ipv6Bytes(address) : ipv4Bytes(address);
  return { address, port: port > 0 && port <= 65_535 ? port : defaultPort, bytes };
}

/** Gives both ends the same address family, and puts one of them on the port where tools expect SIP. */
function asSip([from, to]: readonly [Endpoint, Endpoint]): [Endpoint, Endpoint] {
  const family = Math.max(from.bytes.length, to.bytes.length);
  const ends = [from, to].map((end) => ({
    ...end,
    bytes: end.bytes.length === family ? end.bytes : mapped(end.bytes),
    port: end.port === tlsPort ? plainPort : end.port,
  }));
  const [first = from, second = to] = ends;
  if (first.port === plainPort || second.port === plainPort) return [first, second];
  // Neither end is on a well-known port: the lower one is the listener.
  return first.port < second.port
    ? [{ ...first, port: plainPort }, second]
    : [first, { ...second, port: plainPort }];
}

function flow(end: Endpoint): string {
  return `${end.address}|${end.port}`;
}

function ipv4Bytes(address: string): Buffer {
  const parts = address.split('.').map(Number);
  const valid =
    parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part < 256);
  return Buffer.from(valid ? parts : [0, 0, 0, 0]);
}

/** RFC 4291 section 2.5.5.2: IPv4-mapped IPv6 address. */
function mapped(ipv4: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), ipv4]);
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser normalizes every form, including one with an IPv4 tail, to hexadecimal groups.
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1);
  const [left = '', right] = canonical.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const bytes = Buffer.alloc(16);
  groups.forEach((group, index) => {
    bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  });
  return bytes;
}

/**
 * tshark calls SDP malformed when a key is not the base64 of 30 bytes. This placeholder is, and says that it is
 * redacted.
 */
function withWholeKeys(raw: string): string {
  return raw.replace(/(inline:)REDACTED(?![A-Za-z0-9+/=])/g, `$1${'REDACTED'.repeat(5)}`);
}

/** Sets Content-Length to the actual length of the body, in bytes. */
function withTrueLength(raw: string): string {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) return raw;
  const head = raw.slice(0, end);
  const body = raw.slice(end + 4);
  const length = Buffer.byteLength(body);
  return `${head.replace(/(\r\n(?:content-length|l)[ \t]*:[ \t]*)[0-9]+/i, `$1${length}`)}\r\n\r\n${body}`;
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(262_144, 16);
  header.writeUInt32LE(linkTypeRaw, 20);
  return header;
}

function recordHeader(at: string, length: number): Buffer {
  const ms = Date.parse(at) || 0;
  const header = Buffer.alloc(16);
  header.writeUInt32LE(Math.floor(ms / 1000) >>> 0, 0);
  header.writeUInt32LE((ms % 1000) * 1000, 4);
  header.writeUInt32LE(length, 8);
  header.writeUInt32LE(length, 12);
  return header;
}

/** RFC 9293 section 3.1, without options; PSH and ACK are set. */
function tcpSegment(
  from: Endpoint,
  to: Endpoint,
  sequence: number,
  acknowledged: number,
  data: Buffer,
): Buffer {
  const segment = Buffer.alloc(20 + data.length);
  segment.writeUInt16BE(from.port, 0);
  segment.writeUInt16BE(to.port, 2);
  segment.writeUInt32BE(sequence, 4);
  segment.writeUInt32BE(acknowledged, 8);
  segment.writeUInt8(5 << 4, 12);
  segment.writeUInt8(0x18, 13);
  segment.writeUInt16BE(65_535, 14);
  data.copy(segment, 20);
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(segment.length, 0);
  pseudo.writeUInt8(6, 7);
  segment.writeUInt16BE(checksum([from.bytes, to.bytes, pseudo, segment]), 16);
  return segment;
}

function ipPacket(from: Endpoint, to: Endpoint, segment: Buffer, id: number): Buffer {
  return from.bytes.length === 4 ? ipv4Packet(from, to, segment, id) : ipv6Packet(from, to, segment);
}

/** RFC 791 section 3.1. */
function ipv4Packet(from: Endpoint, to: Endpoint, segment: Buffer, id: number): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt16BE(20 + segment.length, 2);
  header.writeUInt16BE(id & 0xffff, 4);
  header.writeUInt16BE(0x4000, 6);
  header.writeUInt8(64, 8);
  header.writeUInt8(6, 9);
  from.bytes.copy(header, 12);
  to.bytes.copy(header, 16);
  header.writeUInt16BE(checksum([header]), 10);
  return Buffer.concat([header, segment]);
}

/** RFC 8200 section 3. */
function ipv6Packet(from: Endpoint, to: Endpoint, segment: Buffer): Buffer {
  const header = Buffer.alloc(40);
  header.writeUInt32BE(0x60000000, 0);
  header.writeUInt16BE(segment.length, 4);
  header.writeUInt8(6, 6);
  header.writeUInt8(64, 7);
  from.bytes.copy(header, 8);
  to.bytes.copy(header, 24);
  return Buffer.concat([header, segment]);
}

/** RFC 1071. All parts but the last have an even length. */
function checksum(parts: readonly Buffer[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let index = 0; index + 1 < part.length; index += 2) sum += part.readUInt16BE(index);
    if (part.length % 2 === 1) sum += (part[part.length - 1] ?? 0) << 8;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
