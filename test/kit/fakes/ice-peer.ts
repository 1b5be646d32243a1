/** A browser that checks the way to an ICE-lite peer and goes no further: no DTLS follows. */
import { createHmac, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { crc32 } from 'node:zlib';

const bindingRequest = 0x0001;
const magicCookie = 0x2112_a442;
const attributes = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  priority: 0x0024,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
  controlling: 0x802a,
};
const headerOctets = 20;
const integrityOctets = 24;
const fingerprintOctets = 8;
const fingerprintMask = 0x5354_554e;

function attribute(type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value, Buffer.alloc(-value.length & 3)]);
}

/** The message so far, whose header counts `more` octets that follow. */
function counting(message: Buffer, more: number): Buffer {
  message.writeUInt16BE(message.length - headerOctets + more, 2);
  return message;
}

/** A check that nominates its way at once (RFC 8445 section 7.1). */
function check(ufrag: string, pwd: string): Buffer {
  const header = Buffer.alloc(headerOctets);
  header.writeUInt16BE(bindingRequest, 0);
  header.writeUInt32BE(magicCookie, 4);
  randomBytes(12).copy(header, 8);
  const request = Buffer.concat([
    header,
    attribute(attributes.username, Buffer.from(`${ufrag}:peer`)),
    attribute(attributes.priority, Buffer.from([0x6e, 0, 1, 0xff])),
    attribute(attributes.controlling, randomBytes(8)),
    attribute(attributes.useCandidate, Buffer.alloc(0)),
  ]);
  // RFC 8489 sections 14.5 and 14.7: the length counts the attribute that is computed from it.
  const hmac = createHmac('sha1', pwd).update(counting(request, integrityOctets)).digest();
  const signed = Buffer.concat([request, attribute(attributes.messageIntegrity, hmac)]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((crc32(counting(signed, fingerprintOctets)) ^ fingerprintMask) >>> 0);
  return Buffer.concat([signed, attribute(attributes.fingerprint, sum)]);
}

/**
 * Sends one check to the candidate of a description.
 * @returns the class and method of the response: 0x0101 for success
 */
export async function checkOnce(answer: string): Promise<number> {
  const line = (name: string) => answer.match(new RegExp(`^a=${name}:(.*)$`, 'm'))?.[1]?.trim() ?? '';
  const [, , , , address = '', port = ''] = line('candidate').split(' ');
  const socket = createSocket('udp4');
  try {
    const response = once(socket, 'message');
    socket.send(check(line('ice-ufrag'), line('ice-pwd')), Number(port), address);
    const [packet] = await response;
    return packet.readUInt16BE(0);
  } finally {
    socket.close();
  }
}
