/** Reads files of recordings that may be growing, or may end anywhere. */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ChunkScanner, decodeHeader } from '#shared/recording/format.ts';

const headBytes = 8_192;
/** Read at once. */
const pieceBytes = 524_288;

/** The header as it is in the file; null: there is none. */
export async function headerOf(file: FileHandle): Promise<Buffer | null> {
  const bytes = await readPart(file, 0, headBytes);
  const head = decodeHeader(bytes);
  return head && bytes.subarray(0, head.length);
}

/** Octets up to the end of the last whole chunk; 0 without a header. */
export async function wholeBytes(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const header = await headerOf(file);
    if (!header) return 0;
    const scanner = new ChunkScanner(header.length);
    for (let at = header.length; ; at += pieceBytes) {
      const piece = await readPart(file, at, at + pieceBytes);
      scanner.push(piece);
      if (piece.length < pieceBytes) return scanner.whole;
    }
  } finally {
    await file.close();
  }
}

/** The whole chunks that begin at `from`, `most` octets at most; `from` is 0 or the end of a whole chunk. */
export async function wholeChunks(file: FileHandle, from: number, most: number): Promise<Buffer> {
  const piece = await readPart(file, from, from + most);
  const start = from === 0 ? (decodeHeader(piece)?.length ?? piece.length) : 0;
  const scanner = new ChunkScanner(start);
  scanner.push(piece.subarray(start));
  return piece.subarray(0, scanner.whole);
}

/** The octets `from..to`, fewer at the end of the file. */
export async function readPart(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

/** Octets of a file; 0 when there is none. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
