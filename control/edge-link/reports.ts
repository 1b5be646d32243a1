/**
 * Takes the edges' reports; report-writers.ts says what areas make of them. Thousands come per second, so with prepared statements on the bare connection instead
 * of built queries. One frame is one transaction, which also moves the outbox's high-water mark; a frame that
 * arrives again therefore changes nothing.
 */
import type SqliteFile from 'better-sqlite3';
import { Compile } from 'typebox/compile';
import type { Clock } from '#shared/clock.ts';
import { Report, type ReportBody } from '#shared/edge-protocol/reports.ts';
import type { Database } from '../db/index.ts';

/** Which edge and outbox a frame comes from. */
export interface ReportSource {
  readonly edgeId: string;
  readonly outboxId: string;
}

export interface StoredReports {
  /** Highest sequence number that is stored now. */
  readonly acknowledged: number;
  /** Reports stored by this frame, without repeated ones. */
  readonly stored: number;
  /** Reports that could not be understood, and why. They are kept aside and acknowledged, to block nothing. */
  readonly rejected: readonly string[];
  /** What others may wait for (announcements.ts): ids of discoveries that ended, webhooks. */
  readonly announced: ReadonlySet<string>;
  /** Calls that go on although their client was told that they do not: the edge must be told to end them. */
  readonly unwanted: ReadonlySet<string>;
}

/** What comes of the reports of a frame besides what is stored. */
export interface Told {
  readonly announced: Set<string>;
  readonly unwanted: Set<string>;
}

/** Stores the body of one report. @param now ISO @throws RangeError for a time that is none */
type WriteBody = (source: ReportSource, body: ReportBody, now: string, told: Told) => void;

/** What the areas make of reports. */
export interface ReportWriters {
  readonly write: WriteBody;
  /** An edge's clock was set back: what says of itself that it was later than `at` (ISO) gives way to what comes. */
  readonly clockSetBack: (at: string) => void;
}

/** Prepares the statements of the areas, once for a connection. */
export type PrepareWriters = (connection: SqliteFile.Database) => ReportWriters;

const checkReport = Compile(Report);

/** What an edge's connection needs of it. */
export type Reports = Pick<ReportStore, 'acknowledged' | 'store'>;

export class ReportStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #prepareWriters: PrepareWriters;
  #statements: Statements | undefined;

  constructor(database: Database, clock: Clock, prepareWriters: PrepareWriters) {
    this.#database = database;
    this.#clock = clock;
    this.#prepareWriters = prepareWriters;
  }

  /** Up to which sequence number the reports of an outbox are stored; 0 for a new one. */
  acknowledged(source: ReportSource): Promise<number> {
    return this.#database.exclusive((connection) => this.#prepare(connection).acknowledged(source));
  }

  /** Stores what is new of a frame's reports. They come in the order of their sequence numbers. */
  store(source: ReportSource, reports: readonly SequencedReport[]): Promise<StoredReports> {
    const now = new Date(this.#clock.now()).toISOString();
    return this.#database.exclusive((connection) => this.#prepare(connection).store(source, reports, now));
  }

  #prepare(connection: SqliteFile.Database): Statements {
    this.#statements ??= prepareStatements(connection, this.#prepareWriters(connection));
    return this.#statements;
  }
}

/** A report whose sequence number is known to be one; the rest is not yet looked at. */
export interface SequencedReport {
  readonly seq: number;
}

interface Statements {
  acknowledged(source: ReportSource): number;
  store(source: ReportSource, reports: readonly SequencedReport[], now: string): StoredReports;
}

function prepareStatements(
  connection: SqliteFile.Database,
  { write, clockSetBack }: ReportWriters,
): Statements {
  const mark = connection.prepare<[string], { acknowledged: number; reported_at: string | null }>(
    'select acknowledged, reported_at from outboxes where outbox_id = ?',
  );
  const setMark = connection.prepare<[string, string, number, string | null]>(
    `insert into outboxes (outbox_id, edge_id, acknowledged, reported_at) values (?, ?, ?, ?)
     on conflict (outbox_id) do update set edge_id = excluded.edge_id, acknowledged = excluded.acknowledged,
       reported_at = excluded.reported_at`,
  );
  const reject = connection.prepare<[string, string, number, string, string, string]>(
    `insert into rejected_reports (edge_id, outbox_id, seq, problem, report, received_at)
     values (?, ?, ?, ?, ?, ?)`,
  );
  const acknowledged = (source: ReportSource) => mark.get(source.outboxId)?.acknowledged ?? 0;
  const store = (source: ReportSource, reports: readonly SequencedReport[], now: string): StoredReports => {
    const before = mark.get(source.outboxId);
    let last = before?.acknowledged ?? 0;
    let reportedAt = before?.reported_at ?? null;
    let stored = 0;
    const rejected: string[] = [];
    const told: Told = { announced: new Set(), unwanted: new Set() };
    for (const report of reports) {
      if (report.seq <= last) continue;
      const at = timeOf(report);
      if (at !== null) {
        if (reportedAt !== null && at < reportedAt) clockSetBack(at);
        reportedAt = at;
      }
      const problem = storeReport(write, source, report, now, told);
      if (problem !== null) {
        reject.run(source.edgeId, source.outboxId, report.seq, problem, JSON.stringify(report), now);
        rejected.push(problem);
      }
      last = report.seq;
      stored++;
    }
    if (stored > 0) setMark.run(source.outboxId, source.edgeId, last, reportedAt);
    return { acknowledged: last, stored, rejected, ...told };
  };
  return { acknowledged, store: connection.transaction(store).immediate };
}

/** When the edge wrote a report, by its clock; null: it says no time. */
function timeOf(report: object): string | null {
  const at = 'at' in report && typeof report.at === 'string' ? Date.parse(report.at) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** What is wrong with a report, or null when it was stored. */
function storeReport(
  write: WriteBody,
  source: ReportSource,
  report: unknown,
  now: string,
  told: Told,
): string | null {
  if (!checkReport.Check(report)) {
    const [error] = checkReport.Errors(report);
    return `${error?.instancePath ?? ''} ${error?.message ?? 'is not a report'}`.trim();
  }
  try {
    write(source, datedBy(report), now, told);
    return null;
  } catch (error) {
    // A time that is none. What the database says is no fault of the report and ends the transaction.
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** The body of a report. No probe is later than its report, unless the edge's clock was set back between the two. */
function datedBy({ at, body }: Report): ReportBody {
  if (body.type !== 'health') return body;
  const probes = body.probes.map((probe) =>
    Date.parse(probe.at) > Date.parse(at) ? { ...probe, at } : probe,
  );
  return { ...body, probes };
}
