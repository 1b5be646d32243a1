/**
 * An append-only file, cut into segments. A segment begins with a frame that says all that the earlier ones say, but for
 * their reports: a segment whose reports are acknowledged can be removed.
 *
 *     00000007: [head][reports][reports]…   acknowledged: removed when the head of 8 is on the device
 *     00000008: [head][reports]             the current one
 *
 * Writing is synchronous and into the kernel's memory: it survives the death of the process. Syncing is not, and
 * survives a loss of power.
 */
import { type Frame, FrameWriter, isOfAnotherVersion, nextFrame } from './frame.ts';
import type { SegmentFile, SegmentFiles } from './segment-files.ts';

interface Segment {
  readonly name: string;
  /** Highest number of a report in it, 0: it has none. */
  last: number;
  /** Octets written. */
  bytes: number;
  /** Null once it is complete and synced. */
  file: SegmentFile | null;
  /** It has octets that no sync has covered. */
  dirty: boolean;
  /** Its head, and its name, are on the device. */
  begun: boolean;
}

/** The segment read last, and the frames of it that were read last. */
interface ReadSegment {
  readonly segment: Segment;
  readonly bytes: Buffer;
  frames: Frame[];
}

/** A part of a file that is not what was written: after a loss of power, the end of a segment. */
export interface Damage {
  readonly file: string;
  readonly octets: number;
}

const segmentName = /^\d{8}$/;

export class Journal {
  readonly #files: SegmentFiles;
  readonly #writer = new FrameWriter();
  readonly #segments: Segment[] = [];
  #lastNumber = 0;
  #read: ReadSegment | null = null;

  constructor(files: SegmentFiles) {
    this.#files = files;
  }

  /**
   * Reads what earlier processes left, oldest first. Call once, before anything else.
   * @throws Error when a file cannot be read, or another version wrote it
   */
  load(take: (frame: Frame) => number): Damage[] {
    const damage: Damage[] = [];
    const names = this.#files
      .list()
      .filter((name) => segmentName.test(name))
      .sort();
    for (const name of names) {
      const bytes = this.#files.read(name);
      const segment = { name, last: 0, bytes: bytes.length, file: null, dirty: false, begun: true };
      let at = 0;
      for (let frame = nextFrame(bytes, at); frame; frame = nextFrame(bytes, at)) {
        if (frame.start > at) damage.push({ file: name, octets: frame.start - at });
        segment.last = Math.max(segment.last, take(frame));
        at = frame.end;
      }
      if (at === 0 && isOfAnotherVersion(bytes))
        throw new Error(`the outbox file ${name} is of another version of this program; run that version`);
      if (at < bytes.length) damage.push({ file: name, octets: bytes.length - at });
      this.#segments.push(segment);
      this.#lastNumber = Number(name);
    }
    return damage;
  }

  /** Octets of the current segment. */
  get size(): number {
    return this.#segments.at(-1)?.bytes ?? 0;
  }

  /** Highest number of a report in the current segment; 0: it has none. */
  get last(): number {
    return this.#segments.at(-1)?.last ?? 0;
  }

  /** Begins a segment. @throws Error of the disk; then the former one stays the current one */
  begin(last: number, acknowledged: number, head: string): void {
    const name = String(this.#lastNumber + 1).padStart(8, '0');
    const file = this.#files.create(name);
    const frame = this.#writer.frame(last + 1, acknowledged, head);
    try {
      file.write(frame, 0);
    } catch (error) {
      file.close();
      throw error;
    }
    this.#lastNumber += 1;
    this.#segments.push({ name, last: 0, bytes: frame.length, file, dirty: true, begun: false });
  }

  /**
   * Appends a frame to the current segment.
   * @param count of reports in it
   * @throws Error of the disk; then nothing was appended
   */
  append(first: number, count: number, acknowledged: number, text: string): void {
    const segment = this.#segments.at(-1);
    if (!segment?.file) throw new Error('the journal is closed');
    const frame = this.#writer.frame(first, acknowledged, text);
    segment.file.write(frame, segment.bytes);
    segment.bytes += frame.length;
    segment.dirty = true;
    if (count > 0) segment.last = first + count - 1;
  }

  /** Frames with reports above `after`, oldest first, from the files. */
  *framesAfter(after: number): Generator<Frame> {
    for (const segment of this.#segments) {
      if (segment.last <= after) continue;
      const read = this.#bytesOf(segment);
      const known = read.frames.findLast(({ first }) => first <= after + 1);
      read.frames = known ? [known] : [];
      let at = known?.start ?? 0;
      for (let frame = nextFrame(read.bytes, at); frame; frame = nextFrame(read.bytes, at)) {
        read.frames.push(frame);
        at = frame.end;
        yield frame;
      }
    }
  }

  #bytesOf(segment: Segment): ReadSegment {
    if (this.#read?.segment === segment && this.#read.bytes.length >= segment.bytes) return this.#read;
    const bytes = this.#files.read(segment.name).subarray(0, segment.bytes);
    this.#read = { segment, bytes, frames: [] };
    return this.#read;
  }

  /** Resolves when all that was appended before the call is on the device. One at a time. */
  async sync(): Promise<void> {
    const segments = this.#segments.filter(({ dirty }) => dirty);
    for (const segment of segments) {
      segment.dirty = false;
      await segment.file?.sync();
    }
    if (segments.some(({ begun }) => !begun)) await this.#files.sync();
    this.#synced(segments);
  }

  /** The same, and the program waits. */
  syncNow(): void {
    const segments = this.#segments.filter(({ dirty }) => dirty);
    for (const segment of segments) {
      segment.dirty = false;
      segment.file?.syncNow();
    }
    this.#files.syncNow();
    this.#synced(segments);
  }

  #synced(segments: readonly Segment[]): void {
    for (const segment of segments) segment.begun = true;
    // Also one that was synced before it was complete.
    for (const segment of this.#segments.slice(0, -1)) if (!segment.dirty) closeFile(segment);
  }

  /** Nothing more is written to the segments so far, and no sync of them counts: the disk has lost a part of them. */
  abandon(): void {
    for (const segment of this.#segments) closeFile(segment);
  }

  /**
   * Removes the segments whose reports are acknowledged.
   * @param failed a file could not be removed: it is tried again
   */
  forget(acknowledged: number, failed: (error: unknown) => void): void {
    for (;;) {
      const [oldest, ...later] = this.#segments;
      if (!oldest || oldest.last > acknowledged || !later.some(({ begun }) => begun)) return;
      this.#segments.shift();
      if (this.#read?.segment === oldest) this.#read = null;
      this.#files.remove(oldest.name).catch((error: unknown) => {
        this.#segments.unshift(oldest);
        failed(error);
      });
    }
  }

  close(): void {
    for (const segment of this.#segments) closeFile(segment);
    this.#read = null;
  }
}

function closeFile(segment: Segment): void {
  segment.file?.close();
  segment.file = null;
  segment.dirty = false;
}
