/** A recording as a WAV file: 16-bit PCM, 8 kHz, the peer left and our side right. Any part of it is read on its own. */
import { g711 } from '#shared/g711.ts';
import {
  ChunkOpener,
  ChunkScanner,
  frameBytes,
  framesPerChunk,
  samplesPerFrame,
} from '#shared/recording/format.ts';
import type { RecordingRun } from '../db/index.ts';

const wavHeadBytes = 44;
/** Octets of a frame in the file: two channels of 16 bits. */
const wavFrameBytes = 4 * samplesPerFrame;
/** Octets of a chunk in the file of the edge, when it is full. */
const chunkBytes = 24 + framesPerChunk * frameBytes + 16;
/** Chunks that are read and opened at once: eight seconds. */
const chunksAtOnce = 16;

const { toLinear } = g711.PCMU;

export function wavBytes(frames: number): number {
  return wavHeadBytes + frames * wavFrameBytes;
}

function wavHead(frames: number): Buffer {
  const head = Buffer.alloc(wavHeadBytes);
  const data = frames * wavFrameBytes;
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + data, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data, 40);
  return head;
}

export interface WavSource {
  readonly id: string;
  readonly frames: number;
  readonly runs: readonly RecordingRun[];
  readonly dataKey: Uint8Array;
  /** Octets `from..to` of the edge's file. */
  readonly read: (from: number, to: number) => Promise<Buffer>;
}

/** The octets `from..to` of the WAV file, in pieces of eight seconds at most. */
export async function* wavPart(source: WavSource, from: number, to: number): AsyncGenerator<Buffer> {
  if (from < wavHeadBytes) yield wavHead(source.frames).subarray(from, to);
  const first = Math.floor(Math.max(0, from - wavHeadBytes) / wavFrameBytes);
  const end = Math.min(source.frames, Math.ceil(Math.max(0, to - wavHeadBytes) / wavFrameBytes));
  let at = first;
  for await (const piece of pcm(source, first, end)) {
    const begin = wavHeadBytes + at * wavFrameBytes;
    at += piece.length / wavFrameBytes;
    yield piece.subarray(Math.max(0, from - begin), Math.max(0, to - begin));
  }
}

/** The frames `from..to` as 16-bit PCM, with silence where there is no audio; in pieces of whole frames. */
export async function* pcm(source: WavSource, from: number, to: number): AsyncGenerator<Buffer> {
  let at = from;
  for (const run of source.runs) {
    const runEnd = run.at + run.frames;
    if (runEnd <= at || run.at >= to) continue;
    if (run.at > at) {
      yield* silence(run.at - at);
      at = run.at;
    }
    while (at < Math.min(runEnd, to)) {
      const chunk = Math.floor((at - run.at) / framesPerChunk);
      const begin = run.offset + chunk * chunkBytes;
      const audio = await opened(source, begin, Math.ceil(run.frames / framesPerChunk) - chunk);
      const skip = at - (run.at + chunk * framesPerChunk);
      const piece = audio.subarray(skip * wavFrameBytes, (skip + to - at) * wavFrameBytes);
      if (piece.length === 0) throw new Error(`the file of recording ${source.id} is shorter than it was`);
      at += piece.length / wavFrameBytes;
      yield piece;
    }
  }
  yield* silence(to - at);
}

/** The audio of up to `chunks` chunks. @throws Error when the file was altered */
async function opened({ id, dataKey, read }: WavSource, offset: number, chunks: number): Promise<Buffer> {
  const bytes = await read(offset, offset + Math.min(chunks, chunksAtOnce) * chunkBytes);
  const opener = new ChunkOpener(dataKey, id);
  const pieces: Buffer[] = [];
  for (const chunk of new ChunkScanner(offset).push(bytes)) {
    if (chunk.kind !== 'audio') break;
    const samples = opener.open(chunk);
    const piece = Buffer.allocUnsafe(2 * samples.length);
    for (let i = 0; i < samples.length; i++) piece.writeInt16LE(toLinear[samples[i] ?? 0] ?? 0, 2 * i);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function* silence(frames: number): Generator<Buffer> {
  const most = chunksAtOnce * framesPerChunk;
  for (let left = frames; left > 0; left -= most) yield Buffer.alloc(Math.min(left, most) * wavFrameBytes);
}

export type Range = { readonly from: number; readonly to: number };

/**
 * The part that a Range header asks for (RFC 9110 section 14.2). Null: the whole file, for a header that is absent, has
 * another unit or several ranges, or is malformed. `unsatisfiable`: it asks for nothing that exists.
 */
export function readRange(header: string | undefined, size: number): Range | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(size, Number(last));
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size };
  }
  const from = Number(first);
  const to = last === '' ? size : Math.min(size, Number(last) + 1);
  if (last !== '' && Number(last) < from) return null;
  return from >= size ? 'unsatisfiable' : { from, to };
}
