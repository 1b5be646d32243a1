/**
 * Rejected registrations, kept over a restart: an edge that restarts in a loop would otherwise send one wrong
 * password each time, until the registrar bans its address.
 */
import Database from 'better-sqlite3';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';

/** A rejection that needs manual action, such as a wrong password. */
export interface RefusedRegistration {
  /** No attempt before this time, ms since the epoch. */
  readonly until: number;
  /** Length of the pause, ms: setting the clock back does not extend it. */
  readonly pauseMs: number;
  /** Status of the rejection. */
  readonly sipCode: number | null;
  /** One sentence for the user. */
  readonly error: string;
}

/** Persistent storage. Names and marks are opaque: the file contains no user names and passwords. */
export interface RefusalStore {
  /** The rejection of a registration; null when there is none, or its records have changed since (another mark). */
  refusalOf(name: string, mark: string): RefusedRegistration | null;
  keep(name: string, mark: string, refusal: RefusedRegistration): void;
  forget(name: string): void;
  /** Deletes all others. */
  keepOnly(names: readonly string[]): void;
  close(): void;
}

/** For an edge without a data folder, and for tests. */
export const noRefusals: RefusalStore = {
  refusalOf: () => null,
  keep: () => {},
  forget: () => {},
  keepOnly: () => {},
  close: () => {},
};

interface Row {
  readonly mark: string;
  readonly until: number;
  readonly pause_ms: number;
  readonly sip_code: number | null;
  readonly error: string;
}

/**
 * @param path database file, created when missing; `:memory:` for tests
 * @param failed called for each failed write: the next start then tries that registration at once
 * @throws Error when the file cannot be opened or is not a database
 */
export function openRefusalStore(path: string, failed: (fault: StorageFault) => void): RefusalStore {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.exec(`
    CREATE TABLE IF NOT EXISTS refusals (
      name TEXT PRIMARY KEY, mark TEXT NOT NULL, until INTEGER NOT NULL, pause_ms INTEGER NOT NULL,
      sip_code INTEGER, error TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `);
  const find = db.prepare<[string], Row>(
    'SELECT mark, until, pause_ms, sip_code, error FROM refusals WHERE name = ?',
  );
  const keep = db.prepare<[string, string, number, number, number | null, string]>(
    'INSERT OR REPLACE INTO refusals (name, mark, until, pause_ms, sip_code, error) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const forget = db.prepare<[string]>('DELETE FROM refusals WHERE name = ?');
  const keepOnly = db.prepare<[string]>(
    'DELETE FROM refusals WHERE name NOT IN (SELECT value FROM json_each(?))',
  );
  const write = (work: () => void): void => {
    // What happens while the edge shuts down is not stored.
    if (!db.open) return;
    try {
      work();
    } catch (error) {
      const fault = storageFault(error);
      if (fault === null) throw error;
      failed(fault);
    }
  };
  return {
    refusalOf: (name, mark) => {
      const row = find.get(name);
      if (row?.mark !== mark) return null;
      return { until: row.until, pauseMs: row.pause_ms, sipCode: row.sip_code, error: row.error };
    },
    keep: (name, mark, { until, pauseMs, sipCode, error }) =>
      write(() => void keep.run(name, mark, Math.round(until), Math.round(pauseMs), sipCode, error)),
    forget: (name) => write(() => void forget.run(name)),
    keepOnly: (names) => write(() => void keepOnly.run(JSON.stringify(names))),
    close: () => void db.close(),
  };
}
