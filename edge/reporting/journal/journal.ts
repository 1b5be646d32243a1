/**
 * An append-only file, cut into segments. A segment begins with a frame that says all that the earlier ones say, but for
 * their reports: a segment whose reports are acknowledged can be removed.
 *
 *     00000007: [head][reports][reports]…   acknowledged: removed when the head of 8 is on the device
 *     00000008: [head][reports]             the current one
 *
 * A note beside them says up to where the newest segment is on the device: it is the only one of which no later segment
 * knows.
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
  /** Octets that were on the device after the last sync. */
  durable: number;
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

/** What earlier processes left. */
export interface Loaded {
  readonly damage: readonly Damage[];
  /** The head of a segment as it would have been when the note was written; null: a segment knows more. */
  readonly noted: Buffer | null;
  /** The newest segment is missing, or shorter than the note says; null: it is there. */
  readonly lost: Damage | null;
}

/** A segment that is gone while the process runs, and the reports that were in it: above `after`, up to `last`. */
export interface Gone {
  readonly file: string;
  readonly after: number;
  readonly last: number;
}

/** Of a segment's file; other files are beside them. */
export const segmentName = /^\d{8}$/;

export class Journal {
  readonly #files: SegmentFiles;
  readonly #writer = new FrameWriter();
  readonly #segments: Segment[] = [];
  /** Lost their files; a sync of them may still be under way. */
  #gone: Segment[] = [];
  #lastNumber = 0;
  #read: ReadSegment | null = null;

  constructor(files: SegmentFiles) {
    this.#files = files;
  }

  /**
   * Reads what earlier processes left, oldest first. Call once, before anything else.
   * @throws Error when a file cannot be read, or another version wrote it
   */
  load(take: (frame: Frame) => number): Loaded {
    const damage: Damage[] = [];
    const names = this.#files
      .list()
      .filter((name) => segmentName.test(name))
      .sort();
    for (const name of names) {
      const bytes = this.#files.read(name);
      const { length } = bytes;
      const segment = {
        name,
        last: 0,
        bytes: length,
        durable: length,
        file: null,
        dirty: false,
        begun: true,
      };
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
    return { damage, ...this.#compare(this.#files.noted()) };
  }

  /** @param note as `note` has written it */
  #compare(note: Buffer | null): Omit<Loaded, 'damage'> {
    const text = note && nextFrame(note, 0)?.text;
    const place = text?.toString('latin1', 0, text.indexOf('\n')) ?? '';
    const [file = '', octets = ''] = place.split(' ');
    if (!text || !segmentName.test(file)) return { noted: null, lost: null };
    const noted = text.subarray(text.indexOf('\n') + 1);
    const newest = this.#segments.at(-1);
    this.#lastNumber = Math.max(this.#lastNumber, Number(file));
    // Its head says the same, and more.
    if (newest && newest.name > file) return { noted: null, lost: null };
    const there = newest?.name === file ? newest.bytes : 0;
    const missing = Number(octets) - there;
    return { noted, lost: missing > 0 ? { file, octets: missing } : null };
  }

  /** Notes how much of the current segment is on the device, once its name is. @param head as it would begin a segment now */
  note(last: number, acknowledged: number, head: string): void {
    const newest = this.#segments.at(-1);
    if (!newest?.begun) return;
    this.#files.note(this.#writer.frame(last + 1, acknowledged, `${newest.name} ${newest.durable}\n${head}`));
  }

  /** Finds segments whose files were deleted, or are shorter than what was written, and does without them. */
  dropGone(): Gone[] {
    const names = new Set(this.#files.list());
    const gone: Gone[] = [];
    let after = 0;
    for (const segment of [...this.#segments]) {
      const { name, file, bytes, last } = segment;
      if (!names.has(name) || (file && file.size() < bytes)) {
        gone.push({ file: name, after, last: Math.max(after, last) });
        this.#gone.push(segment);
        this.#segments.splice(this.#segments.indexOf(segment), 1);
        if (this.#read?.segment === segment) this.#read = null;
      }
      after = Math.max(after, last);
    }
    return gone;
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
    const segment = { name, last: 0, bytes: frame.length, durable: 0, file, dirty: true, begun: false };
    this.#segments.push(segment);
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
      const { bytes } = segment;
      segment.dirty = false;
      await segment.file?.sync();
      segment.durable = bytes;
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
      segment.durable = segment.bytes;
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
    for (const segment of [...this.#gone, ...this.#segments]) closeFile(segment);
    this.#gone = [];
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
    this.abandon();
    this.#read = null;
  }
}

function closeFile(segment: Segment): void {
  segment.file?.close();
  segment.file = null;
  segment.dirty = false;
}
