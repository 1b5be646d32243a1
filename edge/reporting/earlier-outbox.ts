/** `outbox.db`: the outbox of versions before the journal, an SQLite database. */
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { pathExists } from '#shared/path-exists.ts';
import { namingPath } from '#shared/storage-fault.ts';
import type { HeldReport } from './held-reports.ts';

/** Reports of one run. */
const atATime = 100;

/** Reports with consecutive numbers. */
export interface EarlierReports {
  readonly first: number;
  readonly reports: readonly HeldReport[];
}

export interface EarlierOutbox {
  readonly id: string;
  /** Highest number given. */
  readonly last: number;
  /** Last heartbeat. */
  readonly aliveAt: string | null;
  /** The latest record of each call that was up, JSON text. */
  readonly live: ReadonlyMap<string, string>;
  /** All reports, oldest first. */
  runs(): Iterable<EarlierReports>;
  /** Deletes it: everything of it is elsewhere. */
  remove(): void;
}

interface Row {
  readonly seq: number;
  readonly at: string;
  readonly body: string;
}

/**
 * Null: there is none.
 * @throws Error when it is damaged, or an edge of an earlier version uses it
 */
export function openEarlier(path: string): EarlierOutbox | null {
  if (!pathExists(path)) return null;
  const db = namingPath(path, () => new Database(path, { timeout: 1_000 }));
  try {
    return namingPath(path, () => earlierOf(db, path));
  } catch (error) {
    db.close();
    throw error;
  }
}

function earlierOf(db: Database.Database, path: string): EarlierOutbox {
  db.pragma('locking_mode = EXCLUSIVE');
  db.pragma('journal_mode = WAL');
  const meta = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const given = db
    .prepare<[], { seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'reports'")
    .get();
  const live = db.prepare<[], { id: string; call: string }>('SELECT id, call FROM live_calls').all();
  const after = db.prepare<[number, number], Row>(
    'SELECT seq, at, body FROM reports WHERE seq > ? ORDER BY seq LIMIT ?',
  );
  return {
    id: meta.get('id')?.value ?? '',
    last: given?.seq ?? 0,
    aliveAt: meta.get('alive_at')?.value ?? null,
    live: new Map(live.map(({ id, call }) => [id, call])),
    *runs() {
      for (
        let rows = after.all(0, atATime);
        rows.length > 0;
        rows = after.all(rows.at(-1)?.seq ?? 0, atATime)
      )
        yield* consecutive(rows);
    },
    remove: () => {
      db.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    },
  };
}

function* consecutive(rows: readonly Row[]): Generator<EarlierReports> {
  let start = 0;
  for (const [index, row] of rows.entries()) {
    if (rows[index + 1]?.seq === row.seq + 1) continue;
    const run = rows.slice(start, index + 1);
    start = index + 1;
    yield { first: row.seq - run.length + 1, reports: run.map(({ at, body }) => ({ at, body, call: null })) };
  }
}
