/**
 * A frame is what one write appends to a file of kept values: whole, or not there. Pure.
 *
 * | octets | content |
 * |---|---|
 * | 4 | `0x1e` and `TV1` |
 * | 4 | length of the text in octets |
 * | 4 | CRC-32 of the text |
 * | … | text: JSON, `[[key, value], [key], …]`; a key without a value has none any more |
 *
 * JSON escapes 0x1e: no text can contain the beginning of a frame.
 */
import { crc32 } from 'node:zlib';

const family = Buffer.from('\x1eTV', 'latin1');
const mark = Buffer.concat([family, Buffer.from('1')]);
const headBytes = 12;

/** A change: a key with the JSON text of its value; null: it has none any more. */
export type Change = readonly [key: string, value: string | null];

export function frameOf(changes: Iterable<Change>): Buffer {
  const entries = [...changes].map(([key, value]) =>
    value === null ? `[${JSON.stringify(key)}]` : `[${JSON.stringify(key)},${value}]`,
  );
  const text = Buffer.from(`[${entries.join(',')}]`);
  const head = Buffer.alloc(headBytes);
  mark.copy(head);
  head.writeUInt32BE(text.length, 4);
  head.writeUInt32BE(crc32(text), 8);
  return Buffer.concat([head, text]);
}

export interface ReadFrames {
  /** Parsed contents of the whole frames, in order. */
  readonly contents: readonly unknown[];
  /** Where the last whole frame ends. */
  readonly end: number;
  /** Octets outside of whole frames. */
  readonly damaged: number;
  /** It begins with a frame of another form, and has none of this one. */
  readonly isOfAnotherVersion: boolean;
}

/** What is between whole frames, or behind the last one, is damaged, and left out. */
export function readFrames(bytes: Buffer): ReadFrames {
  const contents: unknown[] = [];
  let [end, whole] = [0, 0];
  for (let start = bytes.indexOf(mark); start !== -1; start = bytes.indexOf(mark, Math.max(end, start + 1))) {
    const text = textAt(bytes, start);
    const content = text === null ? undefined : contentOf(text);
    if (text === null || content === undefined) continue;
    contents.push(content);
    end = start + headBytes + text.length;
    whole += end - start;
  }
  const begins = bytes.subarray(0, family.length).equals(family);
  const isOfAnotherVersion = begins && bytes.indexOf(mark) === -1 && bytes.length > mark.length;
  return { contents, end, damaged: bytes.length - whole, isOfAnotherVersion };
}

/** Undefined: no JSON. */
function contentOf(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

function textAt(bytes: Buffer, start: number): Buffer | null {
  if (bytes.length < start + headBytes) return null;
  const text = bytes.subarray(start + headBytes, start + headBytes + bytes.readUInt32BE(start + 4));
  const isWhole = text.length === bytes.readUInt32BE(start + 4);
  return isWhole && crc32(text) === bytes.readUInt32BE(start + 8) ? text : null;
}
