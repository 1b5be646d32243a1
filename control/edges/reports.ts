/**
 * Takes the edges' reports: thousands per second, so with prepared statements on the bare connection instead
 * of built queries. One frame is one transaction, which also moves the outbox's high-water mark; a frame that
 * arrives again therefore changes nothing.
 */
import type SqliteFile from 'better-sqlite3';
import { Compile } from 'typebox/compile';
import type { Clock } from '#shared/clock.ts';
import { Report, type ReportBody } from '#shared/edge-protocol/reports.ts';
import { prepareProbeRuns } from '../alerts/probes-store.ts';
import { prepareIsUnwanted } from '../calls/lost-store.ts';
import { callRow } from '../calls/rules.ts';
import type { Database } from '../db/open.ts';
import type { CallRow } from '../db/tables.ts';
import { prepareChecks } from '../sip/checks-store.ts';
import { prepareHealth } from '../sip/health-store.ts';
import { prepareRegistration, registrationSubject } from '../sip/registrations-store.ts';
import { prepareCallCompleted, webhookSubject } from '../webhooks/store.ts';

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

const checkReport = Compile(Report);

/** Columns of `calls` that a later report of the same call may alter. */
const insertOnly: ReadonlySet<string> = new Set([
  'id',
  'org_id',
  'parent_id',
  'started_at',
  'metadata',
  'webhook',
]);

/** What an edge's connection needs of it. */
export type Reports = Pick<ReportStore, 'acknowledged' | 'store'>;

export class ReportStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #probeGapMs: number;
  #statements: Statements | undefined;

  /** @param probeGapMs a longer time between two probes of a trunk breaks a run of failures */
  constructor(database: Database, clock: Clock, probeGapMs = 180_000) {
    this.#database = database;
    this.#clock = clock;
    this.#probeGapMs = probeGapMs;
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
    this.#statements ??= prepareStatements(connection, this.#probeGapMs);
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

function prepareStatements(connection: SqliteFile.Database, probeGapMs: number): Statements {
  const mark = connection.prepare<[string], { acknowledged: number; reported_at: string | null }>(
    'select acknowledged, reported_at from outboxes where outbox_id = ?',
  );
  const setMark = connection.prepare<[string, string, number, string | null]>(
    `insert into outboxes (outbox_id, edge_id, acknowledged, reported_at) values (?, ?, ?, ?)
     on conflict (outbox_id) do update set edge_id = excluded.edge_id, acknowledged = excluded.acknowledged,
       reported_at = excluded.reported_at`,
  );
  const clockSetBack = prepareClockSetBack(connection);
  const reject = connection.prepare<[string, string, number, string, string, string]>(
    `insert into rejected_reports (edge_id, outbox_id, seq, problem, report, received_at)
     values (?, ?, ?, ?, ?, ?)`,
  );
  const write = prepareBodies(connection, probeGapMs);
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

/** What comes of the reports of a frame besides what is stored. */
interface Told {
  readonly announced: Set<string>;
  readonly unwanted: Set<string>;
}

type WriteBody = (source: ReportSource, body: ReportBody, now: string, told: Told) => void;

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

/**
 * An edge's clock was set back. What says of itself that it was later gives way to the reports that come: else news
 * would count as old until the clock has caught up.
 */
function prepareClockSetBack(connection: SqliteFile.Database): (at: string) => void {
  const statements = [
    'update registrations set at = @before where at > @before',
    'update trunk_endpoints set checked_at = @before where checked_at > @before',
    'update trunk_probe_runs set failing_since = @before where failing_since > @before',
    'update trunk_probe_runs set checked_at = @before where checked_at > @before',
  ].map((sql) => connection.prepare<[{ before: string }]>(sql));
  return (at) => {
    const before = new Date(Date.parse(at) - probesGatheredMs).toISOString();
    for (const statement of statements) statement.run({ before });
  };
}

/** How much older than its report a probe is at most, ms: edges gather them for a second. */
const probesGatheredMs = 2_000;

function prepareBodies(connection: SqliteFile.Database, probeGapMs: number): WriteBody {
  const columns = Object.keys(callColumns);
  const updates = columns
    .filter((column) => !insertOnly.has(column))
    .map((column) => `${column} = excluded.${column}`);
  const call = connection.prepare<[CallRow]>(
    `insert into calls (${columns.join(', ')}) values (${columns.map((column) => `@${column}`).join(', ')})
     on conflict (id) do update set ${updates.join(', ')} where calls.org_id = excluded.org_id`,
  );
  const transcript = connection.prepare<[string, string, string]>(
    'insert into transcript_parts (call_id, entries, received_at) values (?, ?, ?)',
  );
  const trace = connection.prepare<[string, string, number, number, string]>(
    `insert into trace_parts (call_id, messages, message_count, truncated, received_at)
     values (?, ?, ?, ?, ?)`,
  );
  const completed = prepareCallCompleted(connection);
  const health = prepareHealth(connection);
  const probeRuns = prepareProbeRuns(connection, probeGapMs);
  const check = prepareChecks(connection);
  const registration = prepareRegistration(connection);
  const isUnwanted = prepareIsUnwanted(connection);
  return ({ edgeId }, body, now, { announced, unwanted }) => {
    switch (body.type) {
      case 'call':
        if (body.call.ended_at === null && isUnwanted(body.call.id)) {
          unwanted.add(body.call.id);
          break;
        }
        // The leg to the target of a transfer is part of the call that was transferred, which is told of. Calls of
        // test runs are told of by their runs.
        if (!body.call.parent_id && !body.call.test_run_id && completed(body.call, now)) {
          announced.add(webhookSubject);
        }
        call.run(callRow(body.call, edgeId));
        break;
      case 'transcript':
        transcript.run(body.call_id, JSON.stringify(body.entries), now);
        break;
      case 'trace': {
        const { call_id, messages, truncated } = body;
        trace.run(call_id, JSON.stringify(messages), messages.length, truncated ? 1 : 0, now);
        break;
      }
      case 'health':
        health(body);
        probeRuns(body.probes);
        break;
      case 'discovery':
        check(body, now);
        if (body.result.status !== 'running') announced.add(body.discovery_id);
        break;
      case 'test_call':
        check(body, now);
        break;
      case 'registration':
        registration(body);
        if (body.order_id !== undefined) announced.add(registrationSubject(body.order_id));
        break;
    }
  };
}

/** Every column of `calls`; the type makes a new one impossible to forget. */
const callColumns: Readonly<Record<keyof CallRow, true>> = {
  id: true,
  org_id: true,
  edge_id: true,
  sip_call_id: true,
  parent_id: true,
  direction: true,
  from_number: true,
  to_number: true,
  number: true,
  trunk_id: true,
  source_ip: true,
  started_at: true,
  answered_at: true,
  ended_at: true,
  status: true,
  outcome: true,
  sip_code: true,
  sip_reason: true,
  termination: true,
  termination_detail: true,
  hangup_by: true,
  codec: true,
  media: true,
  agent_kind: true,
  pathway_id: true,
  pathway_version: true,
  persona_id: true,
  max_duration: true,
  request_data: true,
  variables: true,
  failover_attempts: true,
  metadata: true,
  webhook: true,
  transferred_to: true,
  answered_by: true,
};
