/**
 * Stores the edges' reports; report-writers.ts maps them to areas. Thousands arrive per second, so their queries are
 * built once, and those of a transaction are stored together. A frame is stored in one transaction, which also moves the
 * outbox's high-water mark, so a frame that arrives again changes nothing.
 */
import { Compile } from 'typebox/compile';
import type { Clock } from '#shared/clock.ts';
import type { LearnedProbe, LearnedRegistration, TrunkMove } from '#shared/edge-protocol/fleet.ts';
import { Report, type ReportBody } from '#shared/edge-protocol/reports.ts';
import { lazy } from '#shared/lazy.ts';
import {
  builtOnce,
  type Database,
  type Db,
  insertsMany,
  isAmong,
  type OutboxRow,
  type RejectedReportRow,
  toJson,
} from '../db/index.ts';
import type { Announcements } from './announcements.ts';
import { FrameGroups } from './frame-groups.ts';

/** The edge and outbox that a frame comes from. */
export interface ReportSource {
  readonly edgeId: string;
  readonly outboxId: string;
}

export interface StoredReports {
  /** Highest stored sequence number. */
  readonly acknowledged: number;
  /** Reports stored from this frame, without repeats. */
  readonly stored: number;
  /** Reports that could not be parsed, and why. They are set aside and acknowledged, so they block nothing. */
  readonly rejected: readonly string[];
  /** Running calls that were reported to the client as failed; the edge must end them. */
  readonly unwanted: ReadonlySet<string>;
  readonly learned: LearnedFacts;
  readonly lost: LostReports;
}

/** What an edge has lost, and calls that were closed because the report of their end was among it. */
export interface LostReports {
  reports: number;
  calls: number;
  /** Reports that are not used: others have taken over their edge's work since they were written. */
  outdated: number;
}

/** What the other edges should know. */
export interface LearnedFacts {
  readonly probes: LearnedProbe[];
  readonly moves: TrunkMove[];
  readonly registrations: LearnedRegistration[];
}

/** Results of a frame's reports besides the stored rows. */
export interface ReportEffects {
  /** What others may wait for (announcements.ts): ids of finished discoveries, webhooks. */
  readonly announced: Set<string>;
  readonly unwanted: Set<string>;
  readonly learned: LearnedFacts;
  readonly lost: LostReports;
}

/** How the areas store reports. */
export interface ReportWriters {
  /** For the reports of one transaction. @param now ISO */
  begin(db: Db, now: string): ReportWriting;
}

export interface ReportWriting {
  /** Stores the body of one report, or keeps it until `finish`. @throws RangeError for an invalid time */
  write(source: ReportSource, body: ReportBody, effects: ReportEffects): Promise<unknown> | undefined;
  /** An edge's clock was set back: records dated after `at` (ISO) no longer block newer ones. */
  clockSetBack(at: string): Promise<void>;
  /** Stores what was kept, of all frames together. */
  finish(): Promise<void>;
}

const reportCheck = lazy(() => Compile(Report));

/** The part of it that an edge's connection needs. */
export type Reports = Pick<ReportStore, 'acknowledged' | 'store'>;

export class ReportStore {
  readonly #db: Db;
  readonly #beside: Db;
  readonly #clock: Clock;
  readonly #writers: ReportWriters;
  readonly #announcements: Announcements;
  readonly #groups: FrameGroups<ReportFrame, StoredReports>;
  /** Outboxes that have a mark. */
  readonly #marked = new Set<string>();

  constructor(
    { db, beside }: Pick<Database, 'db' | 'beside'>,
    clock: Clock,
    writers: ReportWriters,
    announcements: Announcements,
  ) {
    this.#db = db;
    this.#beside = beside;
    this.#groups = new FrameGroups({
      atOnce: beside === db ? 1 : mostAtOnce,
      sourceOf: ({ source }) => source.outboxId,
      kindOf: (frame) => (this.#mayRunBeside(frame) ? 'beside' : 'ordered'),
      storeAll: (frames) => this.#storeAll(frames),
    });
    this.#clock = clock;
    this.#writers = writers;
    this.#announcements = announcements;
  }

  /** The highest stored sequence number of an outbox; 0 for a new one. */
  async acknowledged(source: ReportSource): Promise<number> {
    const [mark] = await findMarks(this.#db, [source.outboxId]);
    return mark?.acknowledged ?? 0;
  }

  /** Stores the new reports of a frame; they come in sequence order. */
  store(source: ReportSource, reports: readonly SequencedReport[]): Promise<StoredReports> {
    return this.#groups.store({ source, reports });
  }

  /**
   * Whether a frame may be stored beside those of other outboxes. Reports about calls touch rows of their own edge alone,
   * and tell other replicas nothing. The mark keeps a frame that arrives again apart, at another replica too: its row is
   * locked, so there must be one.
   */
  #mayRunBeside({ reports, source }: ReportFrame): boolean {
    const isPossible = this.#beside !== this.#db && this.#marked.has(source.outboxId);
    return isPossible && reports.every(isAboutCall);
  }

  /** All frames in one transaction. */
  async #storeAll(frames: readonly ReportFrame[]): Promise<StoredReports[]> {
    const now = new Date(this.#clock.now()).toISOString();
    const isBeside = frames.every((frame) => this.#mayRunBeside(frame));
    const outboxes = [...new Set(frames.map(({ source }) => source.outboxId))];
    const { stored, announceHere } = await (isBeside ? this.#beside : this.#db)
      .transaction()
      .execute(async (db) => {
        const writing = this.#writers.begin(db, now);
        const known = isBeside ? await lockMarks(db, outboxes) : await findMarks(db, outboxes);
        const marks = new Map(known.map((mark) => [mark.outbox_id, mark]));
        const changed = new Map<string, OutboxRow>();
        const stored: StoredFrame[] = [];
        for (const frame of frames) {
          const { outboxId } = frame.source;
          const result = await storeFrame(
            db,
            writing,
            frame,
            changed.get(outboxId) ?? marks.get(outboxId),
            now,
          );
          if (result.stored > 0) changed.set(outboxId, result.mark);
          stored.push(result);
        }
        await writing.finish();
        await saveMarks(db, [...changed.values()]);
        const subjects = new Set(stored.flatMap(({ announced }) => [...announced]));
        return { stored, announceHere: await this.#announcements.announceIn(db, subjects) };
      });
    if (this.#marked.size > mostMarked) this.#marked.clear();
    for (const { mark } of stored) this.#marked.add(mark.outbox_id);
    announceHere();
    return stored;
  }
}

/** Transactions beside each other: PostgreSQL works on each with one core. */
const mostAtOnce = 4;

/** Outboxes that are remembered. */
const mostMarked = 100_000;

const aboutCalls: ReadonlySet<unknown> = new Set<ReportBody['type']>([
  'call',
  'transcript',
  'trace',
  'measured',
]);

function isAboutCall(report: object): boolean {
  if (!('body' in report) || typeof report.body !== 'object' || report.body === null) return false;
  return 'type' in report.body && aboutCalls.has(report.body.type);
}

interface ReportFrame {
  readonly source: ReportSource;
  readonly reports: readonly SequencedReport[];
}

/** A report with a valid sequence number; the rest is not validated yet. */
export interface SequencedReport {
  readonly seq: number;
}

const findMarks = builtOnce((db, outboxIds: readonly string[]) =>
  db
    .selectFrom('outboxes')
    .selectAll()
    .where(isAmong(db, 'outbox_id', outboxIds)),
);

/** On PostgreSQL others that want the same marks wait for the end of the transaction. */
const lockMarks = builtOnce((db, outboxIds: readonly string[]) =>
  db
    .selectFrom('outboxes')
    .selectAll()
    .where(isAmong(db, 'outbox_id', outboxIds))
    .orderBy('outbox_id')
    .forUpdate(),
);

const saveMarks = insertsMany<OutboxRow>(
  'outboxes',
  { outbox_id: 'text', edge_id: 'text', acknowledged: 'bigint', reported_at: 'text' },
  { key: 'outbox_id', columns: ['edge_id', 'acknowledged', 'reported_at'] },
);

const setAside = builtOnce((db, row: Omit<RejectedReportRow, 'id'>) =>
  db.insertInto('rejected_reports').values(row),
);

interface StoredFrame extends StoredReports {
  readonly announced: ReadonlySet<string>;
  readonly mark: OutboxRow;
}

async function storeFrame(
  db: Db,
  writing: ReportWriting,
  { source, reports }: ReportFrame,
  before: OutboxRow | undefined,
  now: string,
): Promise<StoredFrame> {
  const outbox = { edge_id: source.edgeId, outbox_id: source.outboxId };
  let acknowledged = before?.acknowledged ?? 0;
  let reported_at = before?.reported_at ?? null;
  let stored = 0;
  const rejected: string[] = [];
  const effects: ReportEffects = {
    announced: new Set(),
    unwanted: new Set(),
    learned: { probes: [], moves: [], registrations: [] },
    lost: { reports: 0, calls: 0, outdated: 0 },
  };
  for (const report of reports) {
    if (report.seq <= acknowledged) continue;
    const at = timeOf(report);
    if (at !== null) {
      if (reported_at !== null && at < reported_at) await writing.clockSetBack(at);
      reported_at = at;
    }
    const problem = await storeReport(writing, source, report, effects);
    if (problem !== null) {
      await setAside(db, { ...outbox, seq: report.seq, problem, report: toJson(report), received_at: now });
      rejected.push(problem);
    }
    acknowledged = report.seq;
    stored++;
  }
  return { acknowledged, stored, rejected, mark: { ...outbox, acknowledged, reported_at }, ...effects };
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** When the edge wrote a report, by its clock; null if not given. */
function timeOf(report: object): string | null {
  if (!('at' in report) || typeof report.at !== 'string') return null;
  const at = Date.parse(report.at);
  if (Number.isNaN(at)) return null;
  // Nearly every time: formatting it again would take longer than the rest.
  return isoTime.test(report.at) ? report.at : new Date(at).toISOString();
}

/** The parse error of a report, or null when it was stored. */
async function storeReport(
  writing: ReportWriting,
  source: ReportSource,
  report: unknown,
  effects: ReportEffects,
): Promise<string | null> {
  if (!reportCheck().Check(report)) {
    const [error] = reportCheck().Errors(report);
    return `${error?.instancePath ?? ''} ${error?.message ?? 'is not a report'}`.trim();
  }
  try {
    await writing.write(source, datedBy(report), effects);
    return null;
  } catch (error) {
    // An invalid time. A database error is not the report's fault and ends the transaction.
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** The body of a report. A probe is never later than its report, unless the edge's clock was set back in between. */
function datedBy({ at, body }: Report): ReportBody {
  if (body.type !== 'health') return body;
  const probes = body.probes.map((probe) =>
    Date.parse(probe.at) > Date.parse(at) ? { ...probe, at } : probe,
  );
  return { ...body, probes };
}
