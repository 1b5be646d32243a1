/** Failover state that survives a restart, in a database file. A change is on disk when its function returns. */
import Database from 'better-sqlite3';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';

interface SavedTrunk {
  readonly id: string;
  /** `priority` of the active endpoint. */
  readonly active: number;
}

interface SavedEndpoint {
  /** `host:port`, see `endpointKey`. */
  readonly key: string;
  readonly reachable: boolean;
  /** When this was first observed, ms. */
  readonly at: number;
}

export interface FailoverStore {
  load(): { readonly trunks: readonly SavedTrunk[]; readonly endpoints: readonly SavedEndpoint[] };
  saveTrunk(trunk: SavedTrunk): void;
  saveEndpoint(endpoint: SavedEndpoint): void;
  forgetEndpoint(key: string): void;
  /** Deletes all others. */
  keepOnly(trunkIds: readonly string[], endpointKeys: readonly string[]): void;
  close(): void;
}

interface EndpointRow {
  readonly key: string;
  readonly reachable: number;
  readonly at: number;
}

/**
 * A store whose write errors do not fail calls. The last failed write of each trunk and endpoint is kept and repeated
 * before the next write that succeeds.
 * @param failed called for each failed write
 */
export function patient(store: FailoverStore, failed: (fault: StorageFault) => void): FailoverStore {
  /** Pending writes by subject; bounded by the configured trunks and endpoints. */
  const waiting = new Map<string, () => void>();
  const write = (subject: string, work: () => void): void => {
    // A later write moves to the end: `keepOnly` must not delete what was saved after it.
    waiting.delete(subject);
    waiting.set(subject, work);
    for (const [first, earlier] of waiting) {
      try {
        earlier();
      } catch (error) {
        const fault = storageFault(error);
        if (fault === null) {
          waiting.delete(first);
          throw error;
        }
        failed(fault);
        return;
      }
      waiting.delete(first);
    }
  };
  return {
    load: () => store.load(),
    saveTrunk: (trunk) => write(`trunk ${trunk.id}`, () => store.saveTrunk(trunk)),
    saveEndpoint: (endpoint) => write(`endpoint ${endpoint.key}`, () => store.saveEndpoint(endpoint)),
    forgetEndpoint: (key) => write(`endpoint ${key}`, () => store.forgetEndpoint(key)),
    keepOnly: (trunkIds, endpointKeys) => write('others', () => store.keepOnly(trunkIds, endpointKeys)),
    close: () => store.close(),
  };
}

/**
 * @param path database file, created when missing; `:memory:` for tests
 * @throws Error when the file cannot be opened or is not a database
 */
export function openFailoverStore(path: string): FailoverStore {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.exec(`
    CREATE TABLE IF NOT EXISTS trunks (id TEXT PRIMARY KEY, active INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS endpoints (
      key TEXT PRIMARY KEY, reachable INTEGER NOT NULL, at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `);
  const trunks = db.prepare<[], SavedTrunk>('SELECT id, active FROM trunks');
  const endpoints = db.prepare<[], EndpointRow>('SELECT key, reachable, at FROM endpoints');
  const saveTrunk = db.prepare<[string, number]>('INSERT OR REPLACE INTO trunks (id, active) VALUES (?, ?)');
  const saveEndpoint = db.prepare<[string, number, number]>(
    'INSERT OR REPLACE INTO endpoints (key, reachable, at) VALUES (?, ?, ?)',
  );
  const forgetEndpoint = db.prepare<[string]>('DELETE FROM endpoints WHERE key = ?');
  const keepTrunks = db.prepare<[string]>(
    'DELETE FROM trunks WHERE id NOT IN (SELECT value FROM json_each(?))',
  );
  const keepEndpoints = db.prepare<[string]>(
    'DELETE FROM endpoints WHERE key NOT IN (SELECT value FROM json_each(?))',
  );
  return {
    load: () => ({
      trunks: trunks.all(),
      endpoints: endpoints.all().map((row) => ({ ...row, reachable: row.reachable === 1 })),
    }),
    saveTrunk: ({ id, active }) => void saveTrunk.run(id, active),
    saveEndpoint: ({ key, reachable, at }) => void saveEndpoint.run(key, Number(reachable), at),
    forgetEndpoint: (key) => void forgetEndpoint.run(key),
    keepOnly: (trunkIds, endpointKeys) => {
      keepTrunks.run(JSON.stringify(trunkIds));
      keepEndpoints.run(JSON.stringify(endpointKeys));
    },
    close: () => void db.close(),
  };
}
