/** Ogg pages (RFC 3533) with Opus packets (RFC 7845). Pure. */

/** Opus counts time at 48 kHz whatever it encodes; in 20 ms: */
export const ticksPerFrame = 960;

const headBytes = 27;
/** Segments of a page, and octets of a segment (RFC 3533 section 6). */
const mostSegments = 255;
const segmentBytes = 255;

const beginning = 2;
const end = 4;

/** One logical stream, page by page. */
export class OggStream {
  readonly #serial: number;
  #sequence = 0;

  /** @param serial 32 bits that distinguish streams which are joined */
  constructor(serial: number) {
    this.#serial = serial;
  }

  /**
   * A page with whole packets.
   * @param granule time at its end, ticks, with what is skipped at the beginning
   * @throws Error when the packets need more than one page
   */
  page(packets: readonly Uint8Array[], granule: number, last = false): Buffer {
    const segments = packets.flatMap(lacing);
    if (segments.length > mostSegments) throw new Error('the packets need more than one Ogg page');
    const head = Buffer.alloc(headBytes);
    head.write('OggS', 'latin1');
    head[5] = (this.#sequence === 0 ? beginning : 0) | (last ? end : 0);
    head.writeBigUInt64LE(BigInt(granule), 6);
    head.writeUInt32LE(this.#serial, 14);
    head.writeUInt32LE(this.#sequence++, 18);
    head[26] = segments.length;
    const page = Buffer.concat([head, Uint8Array.from(segments), ...packets]);
    page.writeUInt32LE(oggCrc(page), 22);
    return page;
  }
}

/** How many segments of which length a packet has: all are full but the last. */
function lacing({ length }: Uint8Array): number[] {
  return [...new Array<number>(Math.floor(length / segmentBytes)).fill(segmentBytes), length % segmentBytes];
}

/** RFC 3533 section 6: polynomial 0x04c11db7, without reflection, from 0. `zlib`'s CRC-32 is the reflected one. */
const crcTable = Uint32Array.from({ length: 256 }, (_, octet) => {
  let crc = octet << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80_00_00_00 ? (crc << 1) ^ 0x04_c1_1d_b7 : crc << 1;
  return crc >>> 0;
});

/** Of a page whose own field is 0. */
export function oggCrc(page: Uint8Array): number {
  let crc = 0;
  for (const octet of page) crc = ((crc << 8) ^ (crcTable[(crc >>> 24) ^ octet] ?? 0)) >>> 0;
  return crc;
}

/**
 * The first packet of an Opus stream (RFC 7845 section 5.1), mapping family 0.
 * @param preSkip ticks that the decoder throws away at the beginning
 * @param inputRate of what was encoded, Hz; for display
 */
export function opusHead(channels: 1 | 2, preSkip: number, inputRate: number): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 'latin1');
  head[8] = 1;
  head[9] = channels;
  head.writeUInt16LE(preSkip, 10);
  head.writeUInt32LE(inputRate, 12);
  return head;
}

/** The second packet (RFC 7845 section 5.2), without comments. */
export function opusTags(vendor: string): Buffer {
  const name = Buffer.from(vendor);
  const tags = Buffer.alloc(16 + name.length);
  tags.write('OpusTags', 'latin1');
  tags.writeUInt32LE(name.length, 8);
  name.copy(tags, 12);
  return tags;
}
