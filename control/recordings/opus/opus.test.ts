import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { libraryLoader, type Pointer } from '#shared/native-library.ts';
import { chosenFormat } from '../format-choice.ts';
import { OggOpus } from './encoder.ts';
import { OggStream, oggCrc } from './ogg.ts';
import { OpusStreams } from './opus-streams.ts';

/** The first page that another encoder (opus-tools 0.2) writes. */
const foreignPage = Buffer.from(
  '4f67675300020000000000000000d204000000000000413543c501134f7075734865616401023801401f0000000000',
  'hex',
);

interface Page {
  readonly flags: number;
  readonly granule: number;
  readonly serial: number;
  readonly sequence: number;
  readonly packets: Buffer[];
}

/** Reads pages as RFC 3533 section 6 describes them. @throws Error when one is malformed */
function pagesOf(bytes: Buffer): Page[] {
  const pages: Page[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.toString('latin1', at, at + 4) !== 'OggS' || bytes[at + 4] !== 0) throw new Error('no page');
    const lacing = [...bytes.subarray(at + 27, at + 27 + (bytes[at + 26] ?? 0))];
    const start = at + 27 + lacing.length;
    const end = start + lacing.reduce((sum, one) => sum + one, 0);
    const page = Buffer.from(bytes.subarray(at, end));
    page.fill(0, 22, 26);
    if (slowCrc(page) !== bytes.readUInt32LE(at + 22)) throw new Error('the checksum is wrong');
    const packets: Buffer[] = [];
    let [from, length] = [start, 0];
    for (const segment of lacing) {
      length += segment;
      if (segment === 255) continue;
      packets.push(bytes.subarray(from, from + length));
      [from, length] = [from + length, 0];
    }
    if (length > 0) throw new Error('a packet goes on in the next page');
    pages.push({
      flags: bytes[at + 5] ?? 0,
      granule: Number(bytes.readBigUInt64LE(at + 6)),
      serial: bytes.readUInt32LE(at + 14),
      sequence: bytes.readUInt32LE(at + 18),
      packets,
    });
    at = end;
  }
  return pages;
}

/** Division of polynomials, bit by bit. */
function slowCrc(bytes: Uint8Array): number {
  let rest = 0n;
  for (const octet of [...bytes, 0, 0, 0, 0]) {
    for (let bit = 7; bit >= 0; bit--) {
      rest = (rest << 1n) | BigInt((octet >> bit) & 1);
      if (rest >> 32n) rest ^= 0x1_04c1_1db7n;
    }
  }
  return Number(rest);
}

interface Decoder {
  create(rate: number, channels: number, error: Int32Array): Pointer;
  decode(decoder: Pointer, data: Buffer, length: number, pcm: Int16Array, room: number, fec: number): number;
  destroy(decoder: Pointer): void;
}
const loadDecoder = libraryLoader<Decoder>('libopus.so.0', 'libopus0', (library) => ({
  create: library.func('void* opus_decoder_create(int fs, int channels, int* error)'),
  decode: library.func(
    'int opus_decode(void* decoder, const uint8_t* data, int length, int16_t* pcm, int room, int fec)',
  ),
  destroy: library.func('void opus_decoder_destroy(void* decoder)'),
}));

/** Both channels, after what is to be skipped and up to the time of the last page. */
function decoded(pages: readonly Page[]): { left: number[]; right: number[] } {
  const loaded = loadDecoder();
  if ('reason' in loaded) throw new Error(loaded.reason);
  const { create, decode, destroy } = loaded.functions;
  const decoder = create(48_000, 2, new Int32Array(1));
  const [left, right]: [number[], number[]] = [[], []];
  const pcm = new Int16Array(2 * 960);
  for (const packet of pages.slice(2).flatMap(({ packets }) => packets)) {
    expect(decode(decoder, packet, packet.length, pcm, 960, 0)).toBe(960);
    for (let i = 0; i < pcm.length; i += 2) {
      left.push(pcm[i] ?? 0);
      right.push(pcm[i + 1] ?? 0);
    }
  }
  destroy(decoder);
  const skip = pages[0]?.packets[0]?.readUInt16LE(10) ?? 0;
  const end = pages.at(-1)?.granule ?? 0;
  return { left: left.slice(skip, end), right: right.slice(skip, end) };
}

/** Frames of two tones. */
function tones(frames: number, leftHz: number, rightHz: number): Int16Array<ArrayBuffer> {
  const at = (hz: number, i: number) => 8_000 * Math.sin((2 * Math.PI * hz * i) / 8_000);
  return Int16Array.from({ length: frames * 320 }, (_, i) => at(i % 2 === 0 ? leftHz : rightHz, i >> 1));
}

/** How much of a sound has this frequency, 0 to 1. */
function share(samples: readonly number[], hz: number): number {
  let [re, im, all] = [0, 0, 0];
  for (const [i, sample] of samples.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * i) / 48_000);
    im += sample * Math.sin((2 * Math.PI * hz * i) / 48_000);
    all += sample * sample;
  }
  return (2 * (re * re + im * im)) / (samples.length * all);
}

describe('Ogg pages', () => {
  it('have the checksum that another encoder writes', () => {
    const page = Buffer.from(foreignPage);
    page.fill(0, 22, 26);
    expect(oggCrc(page)).toBe(foreignPage.readUInt32LE(22));
    expect(slowCrc(page)).toBe(foreignPage.readUInt32LE(22));
  });

  it('hold packets of any length, also of whole segments', () => {
    const lengths = [0, 1, 254, 255, 256, 510, 1_000];
    const packets = lengths.map((length) => Buffer.alloc(length, length & 0xff));
    const stream = new OggStream(0xfe_dc_ba_98);
    const pages = pagesOf(Buffer.concat([stream.page(packets, 5), stream.page([], 2 ** 40, true)]));
    expect(pages[0]?.packets).toEqual(packets);
    expect(pages.map(({ flags, granule, serial, sequence }) => [flags, granule, serial, sequence])).toEqual([
      [2, 5, 0xfe_dc_ba_98, 0],
      [4, 2 ** 40, 0xfe_dc_ba_98, 1],
    ]);
    expect(() => stream.page(new Array(256).fill(Buffer.alloc(1)), 1)).toThrow('more than one Ogg page');
  });
});

describe('a recording as Opus', () => {
  it.each([0, 1, 49, 50, 51, 130])('has its length and both sides: %i frames', (frames) => {
    const encoder = new OggOpus(7);
    const pcm = tones(frames, 500, 1_300);
    const parts = [
      encoder.push(pcm.subarray(0, 320 * 20)),
      encoder.push(pcm.subarray(320 * 20)),
      encoder.end(),
    ];
    const pages = pagesOf(Buffer.concat(parts));
    expect(pages[0]?.packets[0]?.toString('latin1', 0, 8)).toBe('OpusHead');
    expect(pages[1]?.packets[0]?.toString('latin1', 0, 8)).toBe('OpusTags');
    expect(pages.map(({ flags }) => flags)).toEqual([2, ...pages.slice(2).map(() => 0), 4]);
    expect(pages.map(({ sequence }) => sequence)).toEqual(pages.map((_, i) => i));
    let packets = 0;
    for (const { granule, packets: held } of pages.slice(2, -1)) {
      packets += held.length;
      expect([held.length, granule]).toEqual([50, packets * 960]);
    }
    const { left, right } = decoded(pages);
    expect([left.length, right.length]).toEqual([frames * 960, frames * 960]);
    if (frames < 130) return;
    expect(share(left.slice(9_600, 100_000), 500)).toBeGreaterThan(0.95);
    expect(share(right.slice(9_600, 100_000), 1_300)).toBeGreaterThan(0.95);
  });

  it('is chosen by an Accept header that prefers it', () => {
    for (const accept of ['audio/ogg', 'audio/ogg, */*;q=0.5', 'audio/wav;q=0.1,AUDIO/OGG ; q=0.2'])
      expect([accept, chosenFormat(accept)]).toEqual([accept, 'opus']);
    for (const accept of [
      undefined,
      '',
      '*/*',
      'audio/*',
      'audio/ogg, audio/wav',
      'audio/ogg;q=0',
      'audio/ogg;q=x',
    ])
      expect([accept, chosenFormat(accept)]).toEqual([accept, 'wav']);
  });
});

describe('encoding for several at once', () => {
  async function* pieces(count: number): AsyncGenerator<Buffer> {
    for (let i = 0; i < count; i++) yield Buffer.from(tones(50, 400, 600).buffer);
  }
  /** Its first octets are there. */
  const begun = async (stream: Readable) => {
    await once(stream, 'readable');
    expect(stream.read(1)).not.toBeNull();
  };
  const refusal = (take: () => unknown) => {
    try {
      take();
    } catch (error) {
      return error instanceof ApiError ? error.code : error;
    }
    return 'taken';
  };

  it('takes turns, and each gets its own', async () => {
    const streams = new OpusStreams(new FakeClock());
    const all = await Promise.all(
      [3, 5].map((count) => streams.encoded(`org-${count}`, pieces(count)).toArray()),
    );
    const lengths = all.map((parts) => decoded(pagesOf(Buffer.concat(parts))).left.length);
    expect(lengths).toEqual([3 * 48_000, 5 * 48_000]);
    await streams.close();
  });

  it('has few places for one organization, and they are free again when a reader leaves or has all', async () => {
    const streams = new OpusStreams(new FakeClock());
    const first = streams.encoded('one', pieces(100));
    await begun(first);
    const second = streams.encoded('one', pieces(1));
    await begun(second);
    expect(refusal(() => streams.encoded('one', pieces(1)))).toBe('RATE_LIMITED');
    for (let i = 0; i < 7; i++) {
      for (let j = 0; j < 2; j++) await begun(streams.encoded(`other-${i}`, pieces(1)));
    }
    expect(refusal(() => streams.encoded('last', pieces(1)))).toBe('SERVICE_UNAVAILABLE');
    first.destroy();
    await once(first, 'close');
    expect(pagesOf(Buffer.concat(await streams.encoded('last', pieces(1)).toArray()))).toHaveLength(3);
    // One that nobody reads gives its place back too.
    for (let i = 0; i < 3; i++) {
      const unread = streams.encoded('one', pieces(1));
      unread.destroy(new Error('the client went away'));
      unread.on('error', () => {});
      await once(unread, 'close').catch(() => undefined);
    }
    await streams.close();
  });

  it('fails for its readers when the thread dies, and starts over for the next', async () => {
    const broken = new URL(`data:text/javascript,${encodeURIComponent('throw new Error("no")')}`);
    const streams = new OpusStreams(new FakeClock(), broken);
    await expect(streams.encoded('one', pieces(1)).toArray()).rejects.toThrow('could not be encoded');
    await expect(streams.encoded('one', pieces(1)).toArray()).rejects.toThrow('could not be encoded');
    await streams.close();
  });
});
