/**
 * SRTP and SRTCP with AES_CM_128_HMAC_SHA1_80 (RFC 3711, RFC 4568) for the far end of tests: independent of the edge's
 * implementation, so that the two check each other.
 */
import { type Cipheriv, createCipheriv, createHash, type Hash } from 'node:crypto';

const tagLength = 10;

const label = { rtpKey: 0, rtpAuth: 1, rtpSalt: 2, rtcpKey: 3, rtcpAuth: 4, rtcpSalt: 5 } as const;

/** RFC 3711 section 4.3 with a key derivation rate of zero: `length` bytes for `use`. */
function deriveKey(master: Buffer, use: number, length: number): Buffer {
  const iv = Buffer.alloc(16);
  master.copy(iv, 0, 16, 30);
  iv[7] = (iv[7] ?? 0) ^ use;
  return createCipheriv('aes-128-ctr', master.subarray(0, 16), iv).update(Buffer.alloc(length));
}

/** Largest packet, octets, and its counter blocks of AES-CM. */
const maxPacket = 2048;

/**
 * AES counter mode on top of ECB (RFC 3711 section 4.1.1): one ECB cipher generates the key stream of all packets,
 * because a cipher object per packet would be most of the load generator's work.
 */
class CounterMode {
  readonly #ecb: Cipheriv;
  readonly #salt: Buffer;
  readonly #blocks = Buffer.alloc(maxPacket);

  constructor(key: Buffer, salt: Buffer) {
    this.#ecb = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
    this.#salt = salt;
  }

  /** XORs the key stream of a packet onto `data`, in place. */
  apply(ssrc: number, index: number, data: Buffer): void {
    const blocks = this.#blocks;
    const size = Math.ceil(data.length / 16) * 16;
    for (let at = 0; at < size; at += 16) {
      this.#salt.copy(blocks, at, 0, 14);
      blocks.writeUInt32BE((blocks.readUInt32BE(at + 4) ^ ssrc) >>> 0, at + 4);
      // The 48-bit packet index is at octets 8 to 13, the block counter after it.
      blocks.writeUInt32BE((blocks.readUInt32BE(at + 8) ^ Math.floor(index / 0x10000)) >>> 0, at + 8);
      blocks.writeUInt16BE(blocks.readUInt16BE(at + 12) ^ (index & 0xffff), at + 12);
      blocks.writeUInt16BE(at / 16, at + 14);
    }
    const stream = this.#ecb.update(blocks.subarray(0, size));
    for (let i = 0; i < data.length; i++) data[i] = (data[i] ?? 0) ^ (stream[i] ?? 0);
  }
}

/** HMAC-SHA1 with the two padded keys hashed once (RFC 2104 section 4). */
class Hmac {
  readonly #inner: Hash;
  readonly #outer: Hash;

  constructor(key: Buffer) {
    const block = Buffer.alloc(64);
    key.copy(block);
    this.#inner = createHash('sha1').update(block.map((byte) => byte ^ 0x36));
    this.#outer = createHash('sha1').update(block.map((byte) => byte ^ 0x5c));
  }

  tag(data: Buffer, more?: Buffer): Buffer {
    const inner = this.#inner.copy().update(data);
    if (more) inner.update(more);
    return this.#outer.copy().update(inner.digest()).digest().subarray(0, tagLength);
  }
}

/** The session keys of one direction. */
class Keys {
  readonly cipher: CounterMode;
  readonly auth: Hmac;
  readonly rtcpCipher: CounterMode;
  readonly rtcpAuth: Hmac;

  constructor(master: Buffer) {
    this.cipher = new CounterMode(deriveKey(master, label.rtpKey, 16), deriveKey(master, label.rtpSalt, 14));
    this.auth = new Hmac(deriveKey(master, label.rtpAuth, 20));
    this.rtcpCipher = new CounterMode(
      deriveKey(master, label.rtcpKey, 16),
      deriveKey(master, label.rtcpSalt, 14),
    );
    this.rtcpAuth = new Hmac(deriveKey(master, label.rtcpAuth, 20));
  }
}

function headerLength(rtp: Buffer): number {
  const first = rtp[0] ?? 0;
  const fixed = 12 + 4 * (first & 0x0f);
  return first & 0x10 ? fixed + 4 + 4 * rtp.readUInt16BE(fixed + 2) : fixed;
}

function word(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** One direction of one session. Streams (SSRCs) share the keys and have a rollover counter each. */
export class SrtpSender {
  readonly #keys: Keys;
  readonly #streams = new Map<number, { roc: number; last: number }>();
  readonly #mki: Buffer;
  #rtcpIndex = 0;

  /**
   * @param master 16 octets of key and 14 of salt
   * @param mki precedes each tag, which does not cover it (RFC 3711 section 3.1)
   */
  constructor(master: Buffer, mki: Buffer = Buffer.alloc(0)) {
    this.#keys = new Keys(master);
    this.#mki = mki;
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
    const out = Buffer.allocUnsafe(rtp.length + this.#mki.length + tagLength);
    rtp.copy(out);
    this.#mki.copy(out, rtp.length);
    const covered = out.subarray(0, rtp.length);
    this.#keys.cipher.apply(ssrc, stream.roc * 0x10000 + sequence, covered.subarray(headerLength(rtp)));
    this.#keys.auth.tag(covered, word(stream.roc)).copy(out, rtp.length + this.#mki.length);
    return out;
  }

  protectRtcp(rtcp: Buffer): Buffer {
    const index = ++this.#rtcpIndex;
    const out = Buffer.allocUnsafe(rtcp.length + 4 + this.#mki.length + tagLength);
    rtcp.copy(out);
    this.#keys.rtcpCipher.apply(rtcp.readUInt32BE(4), index, out.subarray(8, rtcp.length));
    out.writeUInt32BE((0x80000000 | index) >>> 0, rtcp.length);
    this.#mki.copy(out, rtcp.length + 4);
    const tag = this.#keys.rtcpAuth.tag(out.subarray(0, rtcp.length + 4));
    tag.copy(out, rtcp.length + 4 + this.#mki.length);
    return out;
  }
}

/** The other direction: checks, then decrypts. Estimates the rollover counter as RFC 3711 appendix A does. */
export class SrtpReceiver {
  readonly #keys: Keys;
  readonly #streams = new Map<number, { roc: number; highest: number }>();
  readonly #mki: Buffer;

  /** @param mki what must precede each tag */
  constructor(master: Buffer, mki: Buffer = Buffer.alloc(0)) {
    this.#keys = new Keys(master);
    this.#mki = mki;
  }

  /** The RTP packet, decrypted in place; null when its MKI or its authentication tag is wrong. */
  unprotect(packet: Buffer): Buffer | null {
    const trailer = this.#mki.length + tagLength;
    if (packet.length < 12 + trailer || !this.#hasMki(packet)) return null;
    const sequence = packet.readUInt16BE(2);
    const ssrc = packet.readUInt32BE(8);
    const known = this.#streams.get(ssrc);
    let roc = known?.roc ?? 0;
    if (known) {
      if (known.highest < 0x8000 && sequence - known.highest > 0x8000) roc = Math.max(0, roc - 1);
      else if (known.highest >= 0x8000 && known.highest - 0x8000 > sequence) roc++;
    }
    const rtp = packet.subarray(0, packet.length - trailer);
    if (!this.#keys.auth.tag(rtp, word(roc)).equals(packet.subarray(-tagLength))) return null;
    if (!known) this.#streams.set(ssrc, { roc, highest: sequence });
    else if (roc > known.roc || (roc === known.roc && sequence > known.highest)) {
      known.roc = roc;
      known.highest = sequence;
    }
    this.#keys.cipher.apply(ssrc, roc * 0x10000 + sequence, rtp.subarray(headerLength(rtp)));
    return rtp;
  }

  /** The compound RTCP packet, decrypted in place; null when its MKI or its authentication tag is wrong. */
  unprotectRtcp(packet: Buffer): Buffer | null {
    const end = packet.length - this.#mki.length - tagLength;
    if (end < 12 || !this.#hasMki(packet)) return null;
    if (!this.#keys.rtcpAuth.tag(packet.subarray(0, end)).equals(packet.subarray(-tagLength))) return null;
    const trailer = packet.readUInt32BE(end - 4);
    const rtcp = packet.subarray(0, end - 4);
    if (trailer & 0x80000000) {
      this.#keys.rtcpCipher.apply(packet.readUInt32BE(4), trailer & 0x7fffffff, rtcp.subarray(8));
    }
    return rtcp;
  }

  #hasMki(packet: Buffer): boolean {
    const at = packet.length - tagLength - this.#mki.length;
    return packet.subarray(at, at + this.#mki.length).equals(this.#mki);
  }
}
