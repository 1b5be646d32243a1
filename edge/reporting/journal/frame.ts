/**
 * A frame is what one write appends to a segment of the journal: whole, or not there. Pure.
 *
 * | octets | content |
 * |---|---|
 * | 4 | `0x1e` and `TO1` |
 * | 4 | length of the text in octets |
 * | 4 | CRC-32 of all that follows |
 * | 8 | number of the first report in it |
 * | 8 | highest number that control has acknowledged |
 * | … | text, see `entry.ts` |
 *
 * Numbers are big-endian, the last two as doubles. What peers say reaches the text only as JSON, which escapes 0x1e: no
 * text can contain the beginning of a frame.
 */
import { crc32 } from 'node:zlib';

const mark = Buffer.from('\x1eTO1', 'latin1');
/** Frames of another version begin with this too. */
const anyMark = mark.subarray(0, 3);
const afterCrc = 12;
/** Octets before the text. */
const headBytes = 28;
/** Octets of the buffer that is kept between writes: more than nearly all frames have. */
const keptBytes = 262_144;

export interface Frame {
  readonly first: number;
  readonly acknowledged: number;
  readonly text: Buffer;
  /** Where it begins and ends in its segment. */
  readonly start: number;
  readonly end: number;
}

/** Builds frames in a buffer that the next one overwrites. */
export class FrameWriter {
  readonly #kept = Buffer.allocUnsafeSlow(keptBytes);

  frame(first: number, acknowledged: number, text: string): Buffer {
    // UTF-8 has at most three octets for each UTF-16 unit.
    const most = headBytes + text.length * 3;
    const buffer = most <= keptBytes ? this.#kept : Buffer.allocUnsafe(most);
    const length = buffer.write(text, headBytes);
    const frame = buffer.subarray(0, headBytes + length);
    mark.copy(frame);
    frame.writeUInt32BE(length, 4);
    frame.writeDoubleBE(first, afterCrc);
    frame.writeDoubleBE(acknowledged, afterCrc + 8);
    frame.writeUInt32BE(crc32(frame.subarray(afterCrc)), 8);
    return frame;
  }
}

/** The first whole frame at or after `at`; null: there is none. What is between them is damaged. */
export function nextFrame(bytes: Buffer, at: number): Frame | null {
  for (let start = bytes.indexOf(mark, at); start !== -1; start = bytes.indexOf(mark, start + 1)) {
    const frame = frameAt(bytes, start);
    if (frame) return frame;
  }
  return null;
}

/** Whether another version wrote this segment, in which there is no frame of this one. */
export function isOfAnotherVersion(bytes: Buffer): boolean {
  return bytes.length >= mark.length && bytes.indexOf(anyMark) === 0 && bytes.indexOf(mark) !== 0;
}

function frameAt(bytes: Buffer, start: number): Frame | null {
  if (bytes.length < start + headBytes) return null;
  const end = start + headBytes + bytes.readUInt32BE(start + 4);
  if (end > bytes.length) return null;
  if (crc32(bytes.subarray(start + afterCrc, end)) !== bytes.readUInt32BE(start + 8)) return null;
  return {
    first: bytes.readDoubleBE(start + afterCrc),
    acknowledged: bytes.readDoubleBE(start + afterCrc + 8),
    text: bytes.subarray(start + headBytes, end),
    start,
    end,
  };
}
