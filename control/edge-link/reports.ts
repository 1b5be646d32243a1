/**
 * Stores the edges' reports; report-writers.ts maps them to areas. Thousands arrive per second, so their queries are
 * built once. A frame is stored in one transaction, which also moves the outbox's high-water mark, so a frame that arrives
 * again changes nothing.
 */
import { Compile } from 'typebox/compile';
import type { Clock } from '#shared/clock.ts';
import type { LearnedProbe, LearnedRegistration, TrunkMove } from '#shared/edge-protocol/fleet.ts';
import { Report, type ReportBody } from '#shared/edge-protocol/reports.ts';
import {
  builtOnce,
  type Database,
  type Db,
  excluded,
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
}

/** How each area stores its reports, in the transaction of their frame. */
export interface ReportWriters {
  /** Stores the body of one report. @param now ISO @throws RangeError for an invalid time */
  write(
    db: Db,
    source: ReportSource,
    body: ReportBody,
    now: string,
    effects: ReportEffects,
  ): Promise<unknown>;
  /** An edge's clock was set back: records dated after `at` (ISO) no longer block newer ones. */
  clockSetBack(db: Db, at: string): Promise<void>;
}

const checkReport = Compile(Report);

/** The part of it that an edge's connection needs. */
export type Reports = Pick<ReportStore, 'acknowledged' | 'store'>;

export class ReportStore {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #writers: ReportWriters;
  readonly #announcements: Announcements;
  readonly #groups = new FrameGroups<ReportFrame, StoredReports>((frames) => this.#storeAll(frames));

  constructor(
    { db }: Pick<Database, 'db'>,
    clock: Clock,
    writers: ReportWriters,
    announcements: Announcements,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#writers = writers;
    this.#announcements = announcements;
  }

  /** The highest stored sequence number of an outbox; 0 for a new one. */
  async acknowledged(source: ReportSource): Promise<number> {
    const [mark] = await findMark(this.#db, source.outboxId);
    return mark?.acknowledged ?? 0;
  }

  /** Stores the new reports of a frame; they come in sequence order. */
  store(source: ReportSource, reports: readonly SequencedReport[]): Promise<StoredReports> {
    return this.#groups.store({ source, reports });
  }

  /** All frames in one transaction. */
  async #storeAll(frames: readonly ReportFrame[]): Promise<StoredReports[]> {
    const now = new Date(this.#clock.now()).toISOString();
    const { stored, announceHere } = await this.#db.transaction().execute(async (db) => {
      const stored: StoredReports[] = [];
      const subjects = new Set<string>();
      for (const { source, reports } of frames) {
        const { announced, ...frame } = await storeFrame(db, this.#writers, source, reports, now);
        for (const subject of announced) subjects.add(subject);
        stored.push(frame);
      }
      return { stored, announceHere: await this.#announcements.announceIn(db, subjects) };
    });
    announceHere();
    return stored;
  }
}

interface ReportFrame {
  readonly source: ReportSource;
  readonly reports: readonly SequencedReport[];
}

/** A report with a valid sequence number; the rest is not validated yet. */
export interface SequencedReport {
  readonly seq: number;
}

const findMark = builtOnce((db, outboxId: string) =>
  db.selectFrom('outboxes').select(['acknowledged', 'reported_at']).where('outbox_id', '=', outboxId),
);

const saveMark = builtOnce((db, row: OutboxRow) => {
  const { outbox_id: _, ...changes } = row;
  return db
    .insertInto('outboxes')
    .values(row)
    .onConflict((conflict) => conflict.column('outbox_id').doUpdateSet(excluded(changes)));
});

const setAside = builtOnce((db, row: Omit<RejectedReportRow, 'id'>) =>
  db.insertInto('rejected_reports').values(row),
);

async function storeFrame(
  db: Db,
  writers: ReportWriters,
  { edgeId, outboxId }: ReportSource,
  reports: readonly SequencedReport[],
  now: string,
): Promise<StoredReports & ReportEffects> {
  const [before] = await findMark(db, outboxId);
  let last = before?.acknowledged ?? 0;
  let reportedAt = before?.reported_at ?? null;
  let stored = 0;
  const rejected: string[] = [];
  const effects: ReportEffects = {
    announced: new Set(),
    unwanted: new Set(),
    learned: { probes: [], moves: [], registrations: [] },
  };
  for (const report of reports) {
    if (report.seq <= last) continue;
    const at = timeOf(report);
    if (at !== null) {
      if (reportedAt !== null && at < reportedAt) await writers.clockSetBack(db, at);
      reportedAt = at;
    }
    const problem = await storeReport(db, writers, { edgeId, outboxId }, report, now, effects);
    if (problem !== null) {
      const set = { edge_id: edgeId, outbox_id: outboxId, seq: report.seq, problem };
      await setAside(db, { ...set, report: toJson(report), received_at: now });
      rejected.push(problem);
    }
    last = report.seq;
    stored++;
  }
  if (stored > 0) {
    await saveMark(db, { outbox_id: outboxId, edge_id: edgeId, acknowledged: last, reported_at: reportedAt });
  }
  return { acknowledged: last, stored, rejected, ...effects };
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
  db: Db,
  writers: ReportWriters,
  source: ReportSource,
  report: unknown,
  now: string,
  effects: ReportEffects,
): Promise<string | null> {
  if (!checkReport.Check(report)) {
    const [error] = checkReport.Errors(report);
    return `${error?.instancePath ?? ''} ${error?.message ?? 'is not a report'}`.trim();
  }
  try {
    await writers.write(db, source, datedBy(report), now, effects);
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
