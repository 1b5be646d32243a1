import Database from 'better-sqlite3';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';

/** A stored report, its body still as JSON text: it is sent on without being parsed again. */
export interface StoredReport {
  readonly seq: number;
  readonly at: string;
  readonly body: string;
}

export interface OutboxOptions {
  /** Reports kept at most. Above it traces and transcripts are no longer taken; call records always are. */
  readonly maxReports?: number;
}

/** The seconds that a crash may make a closed call's duration too short by. */
export const heartbeatMs = 5_000;

/**
 * The edge's durable memory of what control has not acknowledged yet. `append` returns when the report is
 * in the database file (write-ahead log): a process that is killed afterwards loses nothing. It also keeps
 * the latest record of every live call, so that a restart can close the calls that died with the process.
 */
export class Outbox {
  /** Names this file's sequence numbers; a new file starts a new numbering. */
  readonly id: string;
  /** Reports that were not taken because the outbox was full. */
  dropped = 0;
  readonly #db: Database.Database;
  readonly #maxReports: number;
  #pending: number;
  readonly #insert: Database.Statement<[string, string]>;
  readonly #keepLive: Database.Statement<[string, string]>;
  readonly #dropLive: Database.Statement<[string]>;
  readonly #readAfter: Database.Statement<[number, number], StoredReport>;
  readonly #deleteTo: Database.Statement<[number]>;
  readonly #beat: Database.Statement<[string]>;
  readonly #append: (at: string, bodies: readonly ReportBody[]) => void;

  /**
   * @param path database file, made when missing; `:memory:` for tests
   * @throws Error when the file cannot be opened, is no outbox, or belongs to a running edge
   */
  constructor(path: string, options: OutboxOptions = {}) {
    this.#maxReports = options.maxReports ?? 2_000_000;
    this.#db = openAlone(path);
    this.#db.pragma('synchronous = NORMAL');
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS reports (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, body TEXT NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS live_calls (id TEXT PRIMARY KEY, call TEXT NOT NULL) STRICT, WITHOUT ROWID;
    `);
    this.#db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('id', ?)").run(newId());
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
    this.#beat = this.#db.prepare(
      "INSERT INTO meta (key, value) VALUES ('alive_at', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
    this.#append = this.#db.transaction((at: string, bodies: readonly ReportBody[]) => {
      for (const body of bodies) this.#store(at, body);
    });
  }

  /** Reports that control has not acknowledged. */
  get pending(): number {
    return this.#pending;
  }

  /** Stores reports, all or none. Durable against the death of the process when it returns. */
  append(at: string, ...bodies: readonly ReportBody[]): void {
    this.#append(at, bodies);
  }

  #store(at: string, body: ReportBody): void {
    if (body.type === 'call') {
      if (body.call.ended_at === null) this.#keepLive.run(body.call.id, JSON.stringify(body.call));
      else this.#dropLive.run(body.call.id);
    } else if (this.#pending >= this.#maxReports) {
      this.dropped += 1;
      return;
    }
    this.#insert.run(at, JSON.stringify(body));
    this.#pending += 1;
  }

  /** The next reports after `seq`, oldest first. */
  read(seq: number, limit: number): StoredReport[] {
    return this.#readAfter.all(seq, limit);
  }

  /** Control has stored everything up to `seq`. */
  acknowledge(seq: number): void {
    this.#pending -= this.#deleteTo.run(seq).changes;
  }

  /** Notes that the process is alive; `closeAbandonedCalls` dates the end of abandoned calls by it. */
  heartbeat(at: string): void {
    this.#beat.run(at);
  }

  /**
   * Reports the end of every call that was live when the last process died. To be called once, before the
   * first new call.
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
          termination_detail: 'the edge process died while the call was up; the end is its last sign of life',
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

/** Opens a database for this process alone; the system gives the lock back when the process dies. */
function openAlone(path: string): Database.Database {
  const db = new Database(path, { timeout: 1_000 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    return db;
  } catch (error) {
    db.close();
    if (!(error instanceof Database.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new Error(
      `${path} is in use by another edge; give each edge a data folder of its own (TRUNKLINE_DATA)`,
    );
  }
}
