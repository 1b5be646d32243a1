/**
 * Every report, recorded at both ends: all that the outbox on the edge's disk ever stored, and all that control stored.
 * Independent of how either end detects repetitions.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { SequencedReport } from '../../control/edge-link/reports.ts';
import { entriesOf } from '../../edge/reporting/journal/entry.ts';
import { nextFrame } from '../../edge/reporting/journal/frame.ts';
import { segmentName } from '../../edge/reporting/journal/journal.ts';
import { folderFiles, type SegmentFiles } from '../../edge/reporting/journal/segment-files.ts';

export interface JournalEntry {
  readonly seq: number;
  readonly body: ReportBody;
}

/** Removed segments, below the outbox. */
const kept = 'kept';

/** The files of the outbox in `folder`: synced at once, as nothing here loses power, and kept when they are removed. */
export function journalFiles(folder: string): SegmentFiles {
  const files = folderFiles(folder);
  mkdirSync(join(folder, kept), { recursive: true });
  return {
    ...files,
    create: (name) => ({ ...files.create(name), sync: async () => {}, syncNow: () => {} }),
    remove: async (name) => renameSync(join(folder, name), join(folder, kept, name)),
    sync: async () => {},
    syncNow: () => {},
  };
}

/** All reports that were ever in the outbox, in order. The edge must have ended. */
export function readJournal(folder: string): JournalEntry[] {
  const outbox = join(folder, 'outbox');
  const paths = [join(outbox, kept), outbox].flatMap((place) =>
    readdirSync(place)
      .filter((name) => segmentName.test(name))
      .sort()
      .map((name) => join(place, name)),
  );
  return paths.flatMap((path) => entriesIn(readFileSync(path)));
}

function entriesIn(segment: Buffer): JournalEntry[] {
  const found: JournalEntry[] = [];
  for (let frame = nextFrame(segment, 0); frame; frame = nextFrame(segment, frame.end)) {
    const { first } = frame;
    const reports = entriesOf(frame.text).filter((entry) => entry.kind === 'report');
    found.push(
      ...reports.map(({ body }, index) => ({ seq: first + index, body: JSON.parse(body) as ReportBody })),
    );
  }
  return found;
}

/** What control stored, frame by frame, over all its processes. */
export class Arrivals {
  readonly #seqs: number[] = [];

  /** @param stored how many reports at the end of a frame were stored */
  took(frame: readonly SequencedReport[], stored: number): void {
    this.#seqs.push(...frame.slice(frame.length - stored).map(({ seq }) => seq));
  }

  /** The difference between arrivals and `journal`, one sentence; null: every report arrived once, in order. */
  differ(journal: readonly JournalEntry[]): string | null {
    const at = Array.from({ length: Math.max(journal.length, this.#seqs.length) }).findIndex(
      (_, index) => journal[index]?.seq !== this.#seqs[index],
    );
    if (at === -1) return null;
    const name = (seq: number | undefined) => (seq === undefined ? 'nothing' : `report ${seq}`);
    return `of ${journal.length} reports, ${this.#seqs.length} arrived: at place ${at} is ${name(this.#seqs[at])} instead of ${name(journal[at]?.seq)}`;
  }
}
