/**
 * Rejected registrations, kept over a restart: an edge that restarts in a loop would otherwise send one wrong
 * password each time, until the registrar bans its address.
 */
import { openKeptValues, type ReadTable } from '#shared/kept-values/earlier-database.ts';
import { integer, number, objectOf, orNull, type Shaped, text } from '#shared/shapes.ts';
import type { StorageFault } from '#shared/storage-fault.ts';

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
  /** What was kept is on the device then, or could not be written. Nothing is kept afterwards. */
  close(): Promise<void>;
}

/** For an edge without a data folder, and for tests. */
export const noRefusals: RefusalStore = {
  refusalOf: () => null,
  keep: () => {},
  forget: () => {},
  keepOnly: () => {},
  close: async () => {},
};

const kept = objectOf({
  mark: text,
  until: number,
  pauseMs: number,
  sipCode: orNull(integer()),
  error: text,
});
type Kept = Shaped<typeof kept>;

interface EarlierRow {
  readonly name: string;
  readonly mark: string;
  readonly until: number;
  readonly pause_ms: number;
  readonly sip_code: number | null;
  readonly error: string;
}

const refusals: ReadTable<Kept> = (db) =>
  db
    .prepare<[], EarlierRow>('SELECT name, mark, until, pause_ms, sip_code, error FROM refusals')
    .all()
    .map(({ name, mark, until, pause_ms: pauseMs, sip_code: sipCode, error }) => [
      name,
      { mark, until, pauseMs, sipCode, error },
    ]);

/**
 * Opens `<path>.journal`, which is written in the thread pool. `<path>.db`, where earlier versions kept the same, is
 * taken over.
 * @param failed called for each failed write, which is repeated with the next one
 * @throws Error when one of them cannot be read
 */
export async function openRefusalStore(
  path: string,
  failed: (fault: StorageFault) => void,
): Promise<RefusalStore> {
  const values = await openKeptValues<Kept>(path, { shape: kept, failed, tables: { refusals } });
  return {
    refusalOf: (name, mark) => {
      const value = values.get(name);
      if (value?.mark !== mark) return null;
      const { until, pauseMs, sipCode, error } = value;
      return { until, pauseMs, sipCode, error };
    },
    keep: (name, mark, { until, pauseMs, sipCode, error }) =>
      values.set(name, { mark, until: Math.round(until), pauseMs: Math.round(pauseMs), sipCode, error }),
    forget: (name) => values.delete(name),
    keepOnly: (names) => {
      const wanted = new Set(names);
      for (const [name] of [...values.entries()]) if (!wanted.has(name)) values.delete(name);
    },
    close: () => values.close(),
  };
}
