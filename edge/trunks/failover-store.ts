/** Failover state that survives a restart. Reads are from memory; changes are written in the thread pool. */
import { openKeptValues, type ReadTable } from '#shared/kept-values/earlier-database.ts';
import { KeptValues } from '#shared/kept-values/kept-values.ts';
import { flag, integer, number, objectOf, type Shaped } from '#shared/shapes.ts';
import type { StorageFault } from '#shared/storage-fault.ts';

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

interface SavedState {
  readonly trunks: readonly SavedTrunk[];
  readonly endpoints: readonly SavedEndpoint[];
}

export interface FailoverStore {
  load(): SavedState;
  saveTrunk(trunk: SavedTrunk): void;
  saveEndpoint(endpoint: SavedEndpoint): void;
  forgetEndpoint(key: string): void;
  /** Deletes all others. */
  keepOnly(trunkIds: readonly string[], endpointKeys: readonly string[]): void;
  /** What was saved is on the device then, or `failed` said why not. Nothing is saved afterwards. */
  close(): Promise<void>;
}

/** A trunk has `active`, an endpoint the others. */
const saved = objectOf({}, { active: integer(), reachable: flag, at: number });
type Saved = Shaped<typeof saved>;

const ofTrunk = 'trunk ';
const ofEndpoint = 'endpoint ';

/**
 * Opens `<path>.journal`, and takes over `<path>.db`, where earlier versions kept the same.
 * @param failed called for each failed write, which is repeated with the next one
 * @throws Error when one of them cannot be read
 */
export async function openFailoverStore(
  path: string,
  failed: (fault: StorageFault) => void,
): Promise<FailoverStore> {
  return storeOf(await openKeptValues<Saved>(path, { shape: saved, failed, tables: { trunks, endpoints } }));
}

/** A store that nothing survives, for tests. */
export function failoverMemory(): FailoverStore {
  return storeOf(new KeptValues<Saved>({ path: null, shape: saved, failed: () => {} }));
}

const trunks: ReadTable<Saved> = (db) =>
  db
    .prepare<[], SavedTrunk>('SELECT id, active FROM trunks')
    .all()
    .map(({ id, active }) => [ofTrunk + id, { active }]);

const endpoints: ReadTable<Saved> = (db) =>
  db
    .prepare<[], { key: string; reachable: number; at: number }>('SELECT key, reachable, at FROM endpoints')
    .all()
    .map(({ key, reachable, at }) => [ofEndpoint + key, { reachable: reachable === 1, at }]);

function storeOf(values: KeptValues<Saved>): FailoverStore {
  return {
    load: () => {
      const [trunks, endpoints]: [SavedTrunk[], SavedEndpoint[]] = [[], []];
      for (const [key, { active, reachable, at }] of values.entries()) {
        if (active !== undefined) trunks.push({ id: key.slice(ofTrunk.length), active });
        else if (reachable !== undefined && at !== undefined)
          endpoints.push({ key: key.slice(ofEndpoint.length), reachable, at });
      }
      return { trunks, endpoints };
    },
    saveTrunk: ({ id, active }) => values.set(ofTrunk + id, { active }),
    saveEndpoint: ({ key, reachable, at }) => values.set(ofEndpoint + key, { reachable, at }),
    forgetEndpoint: (key) => values.delete(ofEndpoint + key),
    keepOnly: (trunkIds, endpointKeys) => {
      const kept = new Set([
        ...trunkIds.map((id) => ofTrunk + id),
        ...endpointKeys.map((key) => ofEndpoint + key),
      ]);
      for (const [key] of [...values.entries()]) if (!kept.has(key)) values.delete(key);
    },
    close: () => values.close(),
  };
}
