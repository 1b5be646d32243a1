/**
 * The file of a recording, as the edge writes it and control keeps it. Pure.
 *
 *     [header][chunk][chunk]…
 *
 * | octets | header | chunk |
 * |---|---|---|
 * | 4 | `0x1e` and `TRH` | `0x1e` and `TRC` |
 * | 4 | length of the content | length of the content |
 * | 4 | CRC-32 of all that follows | CRC-32 of all that follows |
 * | 4 | – | number, from 0, increasing: what a failed write lost is missing |
 * | 4 | – | kind: 1 audio, 2 mark |
 * | 4 | – | its time, in frames of 20 ms since the recording began |
 * | … | JSON, see `RecordingHeader` | AES-256-GCM: ciphertext, then 16 octets of tag |
 *
 * Numbers are big-endian. The CRC tells a torn end without the key, which the edge no longer has after a restart. The tag
 * also covers the recording's id and the three numbers: no chunk can be changed, moved or taken to another recording.
 *
 * Audio is G.711 mu-law at 8 kHz in two channels, sample by sample: the peer, then our side. Time between two audio
 * chunks that neither has is silence. A mark is JSON, see `RecordingMark`.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fits, integer, matching, objectOf, oneOf, type Shaped, textUpTo } from '#shared/shapes.ts';

export const frameMs = 20;
export const samplesPerFrame = 160;
/** Octets of both channels. */
export const frameBytes = 2 * samplesPerFrame;
/** Half a second: what a `kill -9` loses at most, besides the write that is under way. */
export const framesPerChunk = 25;

/** Of the name of a file that is being written, after the recording's id. */
export const growingSuffix = '.part';
/** Of one that is complete. */
export const completeSuffix = '.rec';

/** What a file may say about itself in the clear. */
const recordingHeader = objectOf(
  {
    version: integer(1, 1),
    /** of the recording, a UUID in order of time */
    id: matching(/^[0-9a-f-]{36}$/),
    call_id: textUpTo(64),
    org_id: textUpTo(64),
    /** ISO */
    started_at: textUpTo(32),
    /** The data key, for the holder of a private key of control (keys.ts). */
    key: objectOf({ key_id: textUpTo(64), ephemeral: textUpTo(64), wrapped: textUpTo(128) }, {}, true),
  },
  {},
  true,
);
export type RecordingHeader = Shaped<typeof recordingHeader>;

/** Why a recording has no more audio although its call goes on. */
export const recordingFaults = ['edge_disk_full', 'edge_disk_failed', 'edge_disk_slow'] as const;
export type RecordingFault = (typeof recordingFaults)[number];

const plainMark = objectOf({ what: oneOf('paused', 'resumed', 'ended') }, {}, true);
const stopMark = objectOf({ what: oneOf('stopped'), reason: oneOf(...recordingFaults) }, {}, true);
export type RecordingMark = Shaped<typeof plainMark> | Shaped<typeof stopMark>;

const headerMark = Buffer.from('\x1eTRH', 'latin1');
const chunkMark = Buffer.from('\x1eTRC', 'latin1');
const afterCrc = 12;
const chunkHead = 24;
const tagBytes = 16;
const mostHeaderBytes = 4_096;
/** More than any chunk has: a length above it is damage. */
const mostContentBytes = framesPerChunk * frameBytes + tagBytes;

type ChunkKind = 'audio' | 'mark';
const kindNumbers = { audio: 1, mark: 2 } as const;

export interface Chunk {
  readonly number: number;
  readonly kind: ChunkKind;
  /** Frames since the recording began. */
  readonly at: number;
  readonly content: Buffer;
  /** Octets in the file, all included. */
  readonly length: number;
}

export function encodeHeader(header: RecordingHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const bytes = Buffer.alloc(afterCrc + text.length);
  headerMark.copy(bytes);
  bytes.writeUInt32BE(text.length, 4);
  text.copy(bytes, afterCrc);
  bytes.writeUInt32BE(crc32(bytes.subarray(afterCrc)), 8);
  return bytes;
}

/** The header at the beginning of `bytes`, with its length; null: there is no whole one. */
export function decodeHeader(bytes: Buffer): { header: RecordingHeader; length: number } | null {
  if (bytes.length < afterCrc || !bytes.subarray(0, 4).equals(headerMark)) return null;
  const length = afterCrc + bytes.readUInt32BE(4);
  if (length > mostHeaderBytes || length > bytes.length) return null;
  const text = bytes.subarray(afterCrc, length);
  if (crc32(text) !== bytes.readUInt32BE(8)) return null;
  const header = jsonIn(text);
  return fits(recordingHeader, header) ? { header, length } : null;
}

/** Seals the chunks of one recording, one after the other. */
export class ChunkSealer {
  /** Node takes several times as long for each chunk with the octets of a key. */
  readonly #dataKey: KeyObject;
  readonly #id: string;
  #number = 0;

  /** @param dataKey 32 octets that seal no other recording */
  constructor(dataKey: Uint8Array, recordingId: string) {
    this.#dataKey = createSecretKey(dataKey);
    this.#id = recordingId;
  }

  audio(at: number, samples: Uint8Array): Buffer {
    return this.#seal('audio', at, samples);
  }

  mark(at: number, mark: RecordingMark): Buffer {
    return this.#seal('mark', at, Buffer.from(JSON.stringify(mark)));
  }

  #seal(kind: ChunkKind, at: number, content: Uint8Array): Buffer {
    const bytes = Buffer.allocUnsafe(chunkHead + content.length + tagBytes);
    chunkMark.copy(bytes);
    bytes.writeUInt32BE(content.length + tagBytes, 4);
    bytes.writeUInt32BE(this.#number, 12);
    bytes.writeUInt32BE(kindNumbers[kind], 16);
    bytes.writeUInt32BE(at, 20);
    const cipher = createCipheriv('aes-256-gcm', this.#dataKey, nonceOf(this.#number));
    cipher.setAAD(boundTo(this.#id, bytes));
    cipher.update(content).copy(bytes, chunkHead);
    cipher.final();
    cipher.getAuthTag().copy(bytes, chunkHead + content.length);
    bytes.writeUInt32BE(crc32(bytes.subarray(afterCrc)), 8);
    this.#number++;
    return bytes;
  }
}

/** Opens the chunks of one recording, in any order. */
export class ChunkOpener {
  readonly #dataKey: KeyObject;
  readonly #id: string;

  constructor(dataKey: Uint8Array, recordingId: string) {
    this.#dataKey = createSecretKey(dataKey);
    this.#id = recordingId;
  }

  /** @throws Error when the key is another one, or the chunk was altered */
  open(chunk: Chunk): Buffer {
    const head = Buffer.alloc(chunkHead);
    head.writeUInt32BE(chunk.number, 12);
    head.writeUInt32BE(kindNumbers[chunk.kind], 16);
    head.writeUInt32BE(chunk.at, 20);
    const decipher = createDecipheriv('aes-256-gcm', this.#dataKey, nonceOf(chunk.number), {
      authTagLength: tagBytes,
    })
      .setAAD(boundTo(this.#id, head))
      .setAuthTag(chunk.content.subarray(-tagBytes));
    const content = decipher.update(chunk.content.subarray(0, -tagBytes));
    decipher.final();
    return content;
  }
}

export function readMark(content: Buffer): RecordingMark | null {
  const mark = jsonIn(content);
  return fits(plainMark, mark) || fits(stopMark, mark) ? mark : null;
}

/** Finds the chunks of a file that comes in pieces of any size. */
export class ChunkScanner {
  #rest: Buffer = Buffer.alloc(0);
  #whole: number;
  #next = 0;
  #broken = false;

  /** @param start where the first chunk begins in the file */
  constructor(start: number) {
    this.#whole = start;
  }

  /** Octets of the file up to the end of the last whole chunk. */
  get whole(): number {
    return this.#whole;
  }

  /** Whether what follows the last whole chunk is no chunk: a torn end, or damage. */
  get torn(): boolean {
    return this.#broken || this.#rest.length > 0;
  }

  /** Takes the next piece. @returns the chunks that are whole now; none after the first that is damaged */
  push(piece: Buffer): Chunk[] {
    if (this.#broken) return [];
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const chunks: Chunk[] = [];
    let at = 0;
    for (;;) {
      const chunk = chunkAt(bytes, at, this.#next);
      if (chunk === 'damaged') this.#broken = true;
      if (typeof chunk === 'string') break;
      chunks.push(chunk);
      at += chunk.length;
      this.#next = chunk.number + 1;
    }
    this.#whole += at;
    this.#rest = Buffer.from(bytes.subarray(at));
    return chunks;
  }
}

function chunkAt(bytes: Buffer, start: number, lowest: number): Chunk | 'incomplete' | 'damaged' {
  if (bytes.length < start + chunkHead) return 'incomplete';
  const length = bytes.readUInt32BE(start + 4);
  if (!bytes.subarray(start, start + 4).equals(chunkMark)) return 'damaged';
  if (length < tagBytes || length > mostContentBytes) return 'damaged';
  const end = start + chunkHead + length;
  if (bytes.length < end) return 'incomplete';
  if (crc32(bytes.subarray(start + afterCrc, end)) !== bytes.readUInt32BE(start + 8)) return 'damaged';
  const kind = bytes.readUInt32BE(start + 16);
  if (bytes.readUInt32BE(start + 12) < lowest) return 'damaged';
  if (kind !== kindNumbers.audio && kind !== kindNumbers.mark) return 'damaged';
  return {
    number: bytes.readUInt32BE(start + 12),
    kind: kind === kindNumbers.audio ? 'audio' : 'mark',
    at: bytes.readUInt32BE(start + 20),
    content: bytes.subarray(start + chunkHead, end),
    length: end - start,
  };
}

/** The data key seals one recording, so the number of a chunk is used once with it (NIST SP 800-38D section 8.2). */
function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 8);
  return nonce;
}

function boundTo(recordingId: string, head: Buffer): Buffer {
  return Buffer.concat([Buffer.from(recordingId), head.subarray(afterCrc, chunkHead)]);
}

/** undefined: it is none. */
function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
