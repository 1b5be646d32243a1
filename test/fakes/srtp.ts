/**
 * SRTP and SRTCP with AES_CM_128_HMAC_SHA1_80 (RFC 3711, RFC 4568), the far end of the tests: written apart
 * from what the edge uses, so that the two check each other.
 */
import { createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';

export const masterLength = 30;
const tagLength = 10;

const label = { rtpKey: 0, rtpAuth: 1, rtpSalt: 2, rtcpKey: 3, rtcpAuth: 4, rtcpSalt: 5 } as const;

/** RFC 3711 section 4.3 with a key derivation rate of zero: `length` bytes for `use`. */
export function deriveKey(master: Buffer, use: number, length: number): Buffer {
  const iv = Buffer.alloc(16);
  master.copy(iv, 0, 16, 30);
  iv[7] = (iv[7] ?? 0) ^ use;
  return createCipheriv('aes-128-ctr', master.subarray(0, 16), iv).update(Buffer.alloc(length));
}

function ctr(key: Buffer, salt: Buffer, ssrc: number, index: number, data: Buffer): Buffer {
  const iv = Buffer.alloc(16);
  salt.copy(iv, 0, 0, 14);
  iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4);
  // The 48-bit packet index stands at bytes 8..13 (RFC 3711 section 4.1.1).
  const high = Math.floor(index / 0x10000);
  iv.writeUInt32BE((iv.readUInt32BE(8) ^ high) >>> 0, 8);
  iv.writeUInt16BE(iv.readUInt16BE(12) ^ (index & 0xffff), 12);
  return createCipheriv('aes-128-ctr', key, iv).update(data);
}

function headerLength(rtp: Buffer): number {
  const first = rtp[0] ?? 0;
  const fixed = 12 + 4 * (first & 0x0f);
  return first & 0x10 ? fixed + 4 + 4 * rtp.readUInt16BE(fixed + 2) : fixed;
}

/** One direction of one session. Streams (SSRCs) share the keys and have a rollover counter each. */
export class SrtpSender {
  readonly #key: Buffer;
  readonly #auth: Buffer;
  readonly #salt: Buffer;
  readonly #rtcpKey: Buffer;
  readonly #rtcpAuth: Buffer;
  readonly #rtcpSalt: Buffer;
  readonly #streams = new Map<number, { roc: number; last: number }>();
  #rtcpIndex = 0;

  /** @param master 16 bytes of key and 14 of salt */
  constructor(master: Buffer) {
    this.#key = deriveKey(master, label.rtpKey, 16);
    this.#auth = deriveKey(master, label.rtpAuth, 20);
    this.#salt = deriveKey(master, label.rtpSalt, 14);
    this.#rtcpKey = deriveKey(master, label.rtcpKey, 16);
    this.#rtcpAuth = deriveKey(master, label.rtcpAuth, 20);
    this.#rtcpSalt = deriveKey(master, label.rtcpSalt, 14);
  }

  protect(rtp: Buffer): Buffer {
    const sequence = rtp.readUInt16BE(2);
    const ssrc = rtp.readUInt32BE(8);
    let stream = this.#streams.get(ssrc);
    if (!stream) {
      stream = { roc: 0, last: sequence };
      this.#streams.set(ssrc, stream);
    }
    if (sequence < stream.last && stream.last - sequence > 0x8000) stream.roc++;
    stream.last = sequence;
    const header = headerLength(rtp);
    const out = Buffer.alloc(rtp.length + tagLength);
    rtp.copy(out, 0, 0, header);
    ctr(this.#key, this.#salt, ssrc, stream.roc * 0x10000 + sequence, rtp.subarray(header)).copy(out, header);
    const roc = Buffer.alloc(4);
    roc.writeUInt32BE(stream.roc);
    createHmac('sha1', this.#auth)
      .update(out.subarray(0, rtp.length))
      .update(roc)
      .digest()
      .copy(out, rtp.length, 0, tagLength);
    return out;
  }

  protectRtcp(rtcp: Buffer): Buffer {
    const index = ++this.#rtcpIndex;
    const out = Buffer.alloc(rtcp.length + 4 + tagLength);
    rtcp.copy(out, 0, 0, 8);
    ctr(this.#rtcpKey, this.#rtcpSalt, rtcp.readUInt32BE(4), index, rtcp.subarray(8)).copy(out, 8);
    out.writeUInt32BE((0x80000000 | index) >>> 0, rtcp.length);
    createHmac('sha1', this.#rtcpAuth)
      .update(out.subarray(0, rtcp.length + 4))
      .digest()
      .copy(out, rtcp.length + 4, 0, tagLength);
    return out;
  }
}

/** The other direction: checks, then decrypts. Estimates the rollover counter as RFC 3711 appendix A does. */
export class SrtpReceiver {
  readonly #key: Buffer;
  readonly #auth: Buffer;
  readonly #salt: Buffer;
  readonly #rtcpKey: Buffer;
  readonly #rtcpAuth: Buffer;
  readonly #rtcpSalt: Buffer;
  readonly #streams = new Map<number, { roc: number; highest: number }>();

  constructor(master: Buffer) {
    this.#key = deriveKey(master, label.rtpKey, 16);
    this.#auth = deriveKey(master, label.rtpAuth, 20);
    this.#salt = deriveKey(master, label.rtpSalt, 14);
    this.#rtcpKey = deriveKey(master, label.rtcpKey, 16);
    this.#rtcpAuth = deriveKey(master, label.rtcpAuth, 20);
    this.#rtcpSalt = deriveKey(master, label.rtcpSalt, 14);
  }

  /** The RTP packet, or null when the authentication tag is wrong. */
  unprotect(packet: Buffer): Buffer | null {
    if (packet.length < 12 + tagLength) return null;
    const sequence = packet.readUInt16BE(2);
    const ssrc = packet.readUInt32BE(8);
    const known = this.#streams.get(ssrc);
    let roc = known?.roc ?? 0;
    if (known) {
      if (known.highest < 0x8000 && sequence - known.highest > 0x8000) roc = Math.max(0, roc - 1);
      else if (known.highest >= 0x8000 && known.highest - 0x8000 > sequence) roc++;
    }
    const end = packet.length - tagLength;
    const rocBytes = Buffer.alloc(4);
    rocBytes.writeUInt32BE(roc);
    const tag = createHmac('sha1', this.#auth).update(packet.subarray(0, end)).update(rocBytes).digest();
    if (!timingSafeEqual(tag.subarray(0, tagLength), packet.subarray(end))) return null;
    if (!known) this.#streams.set(ssrc, { roc, highest: sequence });
    else if (roc > known.roc || (roc === known.roc && sequence > known.highest)) {
      known.roc = roc;
      known.highest = sequence;
    }
    const header = headerLength(packet);
    return Buffer.concat([
      packet.subarray(0, header),
      ctr(this.#key, this.#salt, ssrc, roc * 0x10000 + sequence, packet.subarray(header, end)),
    ]);
  }

  /** The compound RTCP packet, or null when the authentication tag is wrong. */
  unprotectRtcp(packet: Buffer): Buffer | null {
    const end = packet.length - tagLength;
    if (end < 12) return null;
    const tag = createHmac('sha1', this.#rtcpAuth).update(packet.subarray(0, end)).digest();
    if (!timingSafeEqual(tag.subarray(0, tagLength), packet.subarray(end))) return null;
    const trailer = packet.readUInt32BE(end - 4);
    const body = packet.subarray(8, end - 4);
    if (!(trailer & 0x80000000)) return packet.subarray(0, end - 4);
    const index = trailer & 0x7fffffff;
    return Buffer.concat([
      packet.subarray(0, 8),
      ctr(this.#rtcpKey, this.#rtcpSalt, packet.readUInt32BE(4), index, body),
    ]);
  }
}
