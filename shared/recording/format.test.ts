import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Chunk,
  ChunkOpener,
  ChunkScanner,
  ChunkSealer,
  decodeHeader,
  encodeHeader,
  frameBytes,
  framesPerChunk,
  type RecordingHeader,
  readMark,
} from './format.ts';
import { newRecordingKey, unwrapKey, wrapKey } from './keys.ts';

const id = '01234567-89ab-7def-8123-456789abcdef';
const dataKey = Buffer.alloc(32, 7);
const header: RecordingHeader = {
  version: 1,
  id,
  call_id: 'c1',
  org_id: 'o1',
  started_at: '2026-11-26T00:00:00.000Z',
  key: wrapKey(dataKey, newRecordingKey('k1'), id),
};

/** A header and chunks: audio, a pause, audio, the end. */
function file(): { bytes: Buffer; ends: number[] } {
  const sealer = new ChunkSealer(dataKey, id);
  const pieces = [
    encodeHeader(header),
    sealer.audio(0, Buffer.alloc(2 * frameBytes, 1)),
    sealer.mark(25, { what: 'paused' }),
    sealer.mark(60, { what: 'resumed' }),
    sealer.audio(60, Buffer.alloc(3 * frameBytes, 2)),
    sealer.mark(63, { what: 'ended' }),
  ];
  let end = 0;
  const ends = pieces.map((piece) => {
    end += piece.length;
    return end;
  });
  return { bytes: Buffer.concat(pieces), ends };
}

function scan(bytes: Buffer, step = bytes.length): { chunks: Chunk[]; scanner: ChunkScanner } {
  const start = decodeHeader(bytes)?.length ?? 0;
  const scanner = new ChunkScanner(start);
  const chunks: Chunk[] = [];
  for (let at = start; at < bytes.length; at += step) {
    chunks.push(...scanner.push(bytes.subarray(at, at + step)));
  }
  return { chunks, scanner };
}

describe('the file of a recording', () => {
  it('gives back what was written, in pieces of any size', () => {
    const { bytes } = file();
    const whole = scan(bytes).chunks;
    expect(decodeHeader(bytes)?.header).toEqual(header);
    expect(whole.map(({ kind, at }) => [kind, at])).toEqual([
      ['audio', 0],
      ['mark', 25],
      ['mark', 60],
      ['audio', 60],
      ['mark', 63],
    ]);
    const opener = new ChunkOpener(dataKey, id);
    const contents = whole.map((chunk) => opener.open(chunk));
    expect(contents[0]).toEqual(Buffer.alloc(2 * frameBytes, 1));
    expect(readMark(contents[4] ?? Buffer.alloc(0))).toEqual({ what: 'ended' });
    for (const step of [1, 7, 100, 8_191]) expect(scan(bytes, step).chunks).toEqual(whole);
  });

  it('is readable up to the last whole chunk when it is torn at any octet', () => {
    const { bytes, ends } = file();
    const [headerEnd = 0] = ends;
    for (let length = headerEnd; length <= bytes.length; length++) {
      const { chunks, scanner } = scan(bytes.subarray(0, length));
      const wholeEnds = ends.filter((end) => end <= length);
      expect(scanner.whole).toBe(wholeEnds.at(-1));
      expect(chunks).toHaveLength(wholeEnds.length - 1);
      expect(scanner.torn).toBe(wholeEnds.at(-1) !== length);
    }
    for (let length = 0; length < headerEnd; length++) {
      expect(decodeHeader(bytes.subarray(0, length))).toBeNull();
    }
  });

  it('has no header or mark where its content is no JSON, though its checksum is right', () => {
    const text = Buffer.from('{"version":1');
    const bytes = Buffer.alloc(12 + text.length);
    bytes.write('\x1eTRH', 'latin1');
    bytes.writeUInt32BE(text.length, 4);
    bytes.writeUInt32BE(crc32(text), 8);
    text.copy(bytes, 12);
    expect(decodeHeader(bytes)).toBeNull();
    expect(readMark(text)).toBeNull();
  });

  it('never yields a chunk that was not written, whatever octet is changed', () => {
    const { bytes, ends } = file();
    const [headerEnd = 0] = ends;
    const written = scan(bytes).chunks;
    fc.assert(
      fc.property(
        fc.integer({ min: headerEnd, max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        (at, change) => {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ change;
          const { chunks, scanner } = scan(changed);
          expect(chunks).toEqual(written.slice(0, chunks.length));
          expect(chunks.length).toBeLessThan(written.length);
          expect(scanner.torn).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('opens no chunk with another key, at another place or for another recording', () => {
    const [chunk] = scan(file().bytes).chunks;
    if (!chunk) throw new Error('there is no chunk');
    expect(() => new ChunkOpener(randomBytes(32), id).open(chunk)).toThrow();
    expect(() => new ChunkOpener(dataKey, id.replace('0', '1')).open(chunk)).toThrow();
    expect(() => new ChunkOpener(dataKey, id).open({ ...chunk, at: 1 })).toThrow();
    expect(() => new ChunkOpener(dataKey, id).open({ ...chunk, number: 1 })).toThrow();
  });

  it('contains no audio in the clear', () => {
    const samples = randomBytes(framesPerChunk * frameBytes);
    const bytes = new ChunkSealer(dataKey, id).audio(0, samples);
    for (let at = 0; at + 16 <= samples.length; at += 16)
      expect(bytes.includes(samples.subarray(at, at + 16))).toBe(false);
  });
});

describe('the key of a recording', () => {
  it('is opened by the private key that it was sealed for, for that recording only', () => {
    const own = newRecordingKey('k1');
    const key = wrapKey(dataKey, own, id);
    expect(key.key_id).toBe('k1');
    expect(unwrapKey(key, own, id)).toEqual(dataKey);
    expect(() => unwrapKey(key, newRecordingKey('k1'), id)).toThrow();
    expect(() => unwrapKey(key, own, id.replace('0', '1'))).toThrow();
    expect(() => unwrapKey({ ...key, ephemeral: own.public_key }, own, id)).toThrow();
  });

  it('is sealed differently each time, and the public key opens nothing', () => {
    const own = newRecordingKey('k1');
    expect(wrapKey(dataKey, own, id).wrapped).not.toBe(wrapKey(dataKey, own, id).wrapped);
    const key = wrapKey(dataKey, own, id);
    expect(() => unwrapKey(key, { ...own, private_key: own.public_key }, id)).toThrow();
  });
});
