import Database from 'better-sqlite3';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { type HeldReport, HeldReports } from './held-reports.ts';

/** A stored report with its body as JSON text, which is sent without being parsed again. */
export interface StoredReport {
  readonly seq: number;
  readonly at: string;
  readonly body: string;
}

export interface OutboxOptions {
  /** Maximum number of reports. Above it traces and transcripts are dropped; call records are always accepted. */
  readonly maxReports?: number;
  /** Maximum octets of reports held in memory while the disk fails. */
  readonly heldBytes?: number;
  /** Opens the file; for tests that limit its size. */
  readonly open?: (path: string) => Database.Database;
}

/** Maximum error of the end time of a call closed after a crash. */
export const heartbeatMs = 5_000;

/**
 * Numbers left out at each start: more than the reports in a write-ahead log between two syncs. SQLite syncs it with
 * every checkpoint, after about 4 MiB.
 */
const skippedNumbers = 1_000_000;

/** Held reports written per transaction. */
const heldAtATime = 100;

/**
 * Durable storage of reports that control has not acknowledged. When `append` returns, the report is in the database
 * file (write-ahead log), so a process killed afterwards loses nothing. A loss of power takes what was not synced. The outbox also stores the latest record of
 * every live call, so that a restart can close the calls that died with the process.
 *
 * When the disk fails, no report is lost while the process lives:
 *
 *     writing --write fails--> holding --`settle`: all held reports are written--> writing
 *
 * In `holding`, reports wait in memory in order and get their number when they are written. Nothing is delivered before
 * it is on disk, so a number is never reused. Held reports are lost when the process is killed.
 */
export class Outbox {
  /** Identifies this file's sequence numbers; a new file starts a new numbering. */
  readonly id: string;
  /** Reports dropped because the outbox, or the memory for held reports, was full. */
  dropped = 0;
  /** Failed writes. */
  failures = 0;
  readonly #db: Database.Database;
  readonly #maxReports: number;
  readonly #held: HeldReports;
  #fault: StorageFault | null = null;
  /** In the file and not acknowledged. */
  #pending: number;
  /** Highest acknowledged number, and how many reports up to it are still in the file. */
  #acknowledged = 0;
  #undeleted = 0;
  readonly #insert: Database.Statement<[string, string]>;
  readonly #keepLive: Database.Statement<[string, string]>;
  readonly #dropLive: Database.Statement<[string]>;
  readonly #readAfter: Database.Statement<[number, number], StoredReport>;
  readonly #deleteTo: Database.Statement<[number]>;
  readonly #countTo: Database.Statement<[number], { n: number }>;
  readonly #beat: Database.Statement<[string]>;
  readonly #write: (reports: readonly HeldReport[]) => void;

  /**
   * @param path database file, created when missing; `:memory:` for tests
   * @throws Error when the file cannot be opened, is not an outbox, or belongs to a running edge
   */
  constructor(path: string, options: OutboxOptions = {}) {
    this.#maxReports = options.maxReports ?? 2_000_000;
    this.#held = new HeldReports(options.heldBytes);
    this.#db = (options.open ?? openAlone)(path);
    this.#db.pragma('synchronous = NORMAL');
    // Overwrites delivered reports with zeros when that needs no extra write.
    this.#db.pragma('secure_delete = FAST');
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS reports (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS live_calls (id TEXT PRIMARY KEY, call TEXT NOT NULL) STRICT, WITHOUT ROWID;
    `);
    const isNew = this.#db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('id', ?)").run(newId());
    if (isNew.changes === 0) this.#skipNumbers();
    this.id = this.#meta('id') ?? '';
    const count = this.#db.prepare<[], { n: number }>('SELECT count(*) AS n FROM reports').get();
    this.#pending = count?.n ?? 0;
    this.#insert = this.#db.prepare('INSERT INTO reports (at, body) VALUES (?, ?)');
    this.#keepLive = this.#db.prepare(
      'INSERT INTO live_calls (id, call) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET call = excluded.call',
    );
    this.#dropLive = this.#db.prepare('DELETE FROM live_calls WHERE id = ?');
    this.#readAfter = this.#db.prepare(
      'SELECT seq, at, body FROM reports WHERE seq > ? ORDER BY seq LIMIT ?',
    );
    this.#deleteTo = this.#db.prepare('DELETE FROM reports WHERE seq <= ?');
    this.#countTo = this.#db.prepare('SELECT count(*) AS n FROM reports WHERE seq <= ?');
    this.#beat = this.#db.prepare(
      "INSERT INTO meta (key, value) VALUES ('alive_at', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
    this.#write = this.#db.transaction((reports: readonly HeldReport[]) => {
      for (const report of reports) this.#store(report);
    });
  }

  /**
   * A loss of power takes the last commits back, and control may have acknowledged reports of them: it would ignore
   * others with the same numbers. So every start begins behind all that can have been given, and remembers that on disk.
   */
  #skipNumbers(): void {
    this.#db.pragma('synchronous = FULL');
    this.#db.exec(`
      INSERT INTO sqlite_sequence (name, seq) SELECT 'reports', 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'reports');
      UPDATE sqlite_sequence SET seq = seq + ${skippedNumbers} WHERE name = 'reports'`);
    this.#db.pragma('synchronous = NORMAL');
  }

  /** Reports not acknowledged by control. */
  get pending(): number {
    return this.#pending + this.#held.size;
  }

  /** Why the last write failed; null: it succeeded. */
  get fault(): StorageFault | null {
    return this.#fault;
  }

  /** Reports held in memory for the disk. */
  get held(): { readonly reports: number; readonly bytes: number } {
    return { reports: this.#held.size, bytes: this.#held.bytes };
  }

  /** Whether so much is held that new calls must be rejected. */
  get refuses(): boolean {
    return this.#held.refuses;
  }

  /**
   * Stores reports, all or none. When it returns they survive the death of the process, unless `fault` is set: then
   * they are held in memory.
   */
  append(at: string, ...bodies: readonly ReportBody[]): void {
    const reports: HeldReport[] = [];
    for (const body of bodies) {
      if (body.type === 'call' || this.pending + reports.length < this.#maxReports)
        reports.push(reportOf(at, body));
      else this.dropped += 1;
    }
    if (this.#fault === null && this.#tries(() => this.#write(reports))) {
      this.#pending += reports.length;
      return;
    }
    for (const report of reports) if (!this.#held.push(report)) this.dropped += 1;
  }

  /**
   * Writes held reports in order, as many as possible now.
   * @returns whether all are written
   */
  settle(): boolean {
    if (this.#fault === null) return true;
    if (this.#undeleted > 0 && !this.#tries(() => this.#forget(this.#acknowledged))) return false;
    while (this.#held.size > 0) {
      const reports = this.#held.first(heldAtATime);
      if (!this.#tries(() => this.#write(reports))) return false;
      this.#held.drop(reports.length);
      this.#pending += reports.length;
    }
    this.#fault = null;
    return true;
  }

  #store({ at, body, call }: HeldReport): void {
    if (call?.ended) this.#dropLive.run(call.id);
    else if (call) this.#keepLive.run(call.id, call.record);
    this.#insert.run(at, body);
  }

  /** Runs `work`, or records why the disk failed. @returns whether it succeeded */
  #tries(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const fault = storageFault(error);
      if (fault === null) throw error;
      this.#fault = fault;
      this.failures += 1;
      return false;
    }
  }

  /** The next reports after `seq`, oldest first. */
  read(seq: number, limit: number): StoredReport[] {
    return this.#readAfter.all(seq, limit);
  }

  /** Control has stored everything up to `seq`. */
  acknowledge(seq: number): void {
    if (seq < this.#acknowledged) return;
    this.#acknowledged = seq;
    if (this.#tries(() => this.#forget(seq))) return;
    // This process does not resend acknowledged reports; control would ignore them from the next one.
    const undeleted = this.#countTo.get(seq)?.n ?? 0;
    this.#pending -= undeleted - this.#undeleted;
    this.#undeleted = undeleted;
  }

  #forget(seq: number): void {
    this.#pending -= this.#deleteTo.run(seq).changes - this.#undeleted;
    this.#undeleted = 0;
  }

  /**
   * Records that the process is alive: `closeAbandonedCalls` uses it as the end time of abandoned calls. It also
   * detects a full disk while nothing is reported.
   */
  heartbeat(at: string): void {
    this.#tries(() => this.#beat.run(at));
  }

  /**
   * Reports the end of every call that was live when the last process died. Call once, before the first new call.
   * @returns how many calls were closed
   */
  closeAbandonedCalls(now: string): number {
    const rows = this.#db.prepare<[], { call: string }>('SELECT call FROM live_calls').all();
    const lastSeen = this.#meta('alive_at') ?? now;
    const bodies = rows.map((row): ReportBody => {
      const call = JSON.parse(row.call) as CallRecord;
      const begun = call.answered_at ?? call.started_at;
      return {
        type: 'call',
        call: {
          ...call,
          status: call.answered_at === null ? 'failed' : 'completed',
          sip_code: call.answered_at === null ? call.sip_code : 200,
          sip_reason: call.answered_at === null ? call.sip_reason : 'OK',
          ended_at: lastSeen > begun ? lastSeen : begun,
          termination: 'edge_restarted',
          termination_detail:
            'the edge process died while the call was up; the end time is its last heartbeat',
          hangup_by: 'error',
        },
      };
    });
    this.append(now, ...bodies);
    return bodies.length;
  }

  close(): void {
    this.#db.close();
  }

  #meta(key: string): string | undefined {
    return this.#db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?').get(key)
      ?.value;
  }
}

function reportOf(at: string, body: ReportBody): HeldReport {
  if (body.type !== 'call') return { at, body: JSON.stringify(body), call: null };
  const { call } = body;
  const record = JSON.stringify(call);
  return {
    at,
    body: `{"type":"call","call":${record}}`,
    call: { id: call.id, ended: call.ended_at !== null, record },
  };
}

/** Opens a database exclusively for this process; the system releases the lock when the process dies. */
export function openAlone(path: string): Database.Database {
  const db = new Database(path, { timeout: 1_000 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    return db;
  } catch (error) {
    db.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new Error(`${path} is in use by another edge; give each edge its own data folder (TRUNKLINE_DATA)`);
  }
}
