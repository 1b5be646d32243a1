/**
 * Stores the edges' reports; report-writers.ts maps them to areas. Thousands arrive per second, so it uses prepared
 * statements on the bare connection instead of the query builder. One frame is one transaction, which also moves the
 * outbox's high-water mark, so a frame that arrives again changes nothing.
 */
import type SqliteFile from 'better-sqlite3';
import { Compile } from 'typebox/compile';
import type { Clock } from '#shared/clock.ts';
import { Report, type ReportBody } from '#shared/edge-protocol/reports.ts';
import type { Database } from '../db/index.ts';

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
  /** What others may wait for (announcements.ts): ids of finished discoveries, webhooks. */
  readonly announced: ReadonlySet<string>;
  /** Running calls whose client was told that they failed; the edge must be told to end them. */
  readonly unwanted: ReadonlySet<string>;
}

/** Results of a frame's reports besides the stored rows. */
export interface Told {
  readonly announced: Set<string>;
  readonly unwanted: Set<string>;
}

/** Stores the body of one report. @param now ISO @throws RangeError for an invalid time */
type WriteBody = (source: ReportSource, body: ReportBody, now: string, told: Told) => void;

/** How each area stores its reports. */
export interface ReportWriters {
  readonly write: WriteBody;
  /** An edge's clock was set back: records dated after `at` (ISO) no longer block newer ones. */
  readonly clockSetBack: (at: string) => void;
}

/** Prepares the areas' statements, once per connection. */
export type PrepareWriters = (connection: SqliteFile.Database) => ReportWriters;

const checkReport = Compile(Report);

/** The part of it that an edge's connection needs. */
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

  /** The highest stored sequence number of an outbox; 0 for a new one. */
  acknowledged(source: ReportSource): Promise<number> {
    return this.#database.exclusive((connection) => this.#prepare(connection).acknowledged(source));
  }

  /** Stores the new reports of a frame; they come in sequence order. */
  store(source: ReportSource, reports: readonly SequencedReport[]): Promise<StoredReports> {
    const now = new Date(this.#clock.now()).toISOString();
    return this.#database.exclusive((connection) => this.#prepare(connection).store(source, reports, now));
  }

  #prepare(connection: SqliteFile.Database): Statements {
    this.#statements ??= prepareStatements(connection, this.#prepareWriters(connection));
    return this.#statements;
  }
}

/** A report with a valid sequence number; the rest is not validated yet. */
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

/** When the edge wrote a report, by its clock; null if not given. */
function timeOf(report: object): string | null {
  const at = 'at' in report && typeof report.at === 'string' ? Date.parse(report.at) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** The parse error of a report, or null when it was stored. */
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
