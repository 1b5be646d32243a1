import { SqliteError } from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type FailoverStore, openFailoverStore, patient } from './failover-store.ts';

/** A real store whose writes can be made to fail. */
function breakable() {
  const store = openFailoverStore(':memory:');
  const disk = { error: null as Error | null };
  const guarded =
    <A extends unknown[]>(write: (...args: A) => void) =>
    (...args: A) => {
      if (disk.error) throw disk.error;
      write(...args);
    };
  const faulty: FailoverStore = {
    ...store,
    saveTrunk: guarded(store.saveTrunk),
    saveEndpoint: guarded(store.saveEndpoint),
    forgetEndpoint: guarded(store.forgetEndpoint),
    keepOnly: guarded(store.keepOnly),
  };
  const faults: string[] = [];
  return { disk, faults, store: patient(faulty, (fault) => faults.push(fault)) };
}

const full = new SqliteError('database or disk is full', 'SQLITE_FULL');

test('a full disk fails no call: failed writes are repeated with the next change', () => {
  const { disk, faults, store } = breakable();
  disk.error = full;
  store.saveTrunk({ id: 't1', active: 1 });
  store.saveTrunk({ id: 't1', active: 2 });
  store.saveEndpoint({ key: 'a:5061', reachable: false, at: 5 });
  store.saveEndpoint({ key: 'b:5061', reachable: true, at: 6 });
  store.forgetEndpoint('b:5061');
  expect(faults).toEqual(['full', 'full', 'full', 'full', 'full']);
  expect(store.load()).toEqual({ trunks: [], endpoints: [] });
  disk.error = null;
  store.saveTrunk({ id: 't2', active: 1 });
  expect(store.load()).toEqual({
    trunks: [
      { id: 't1', active: 2 },
      { id: 't2', active: 1 },
    ],
    endpoints: [{ key: 'a:5061', reachable: false, at: 5 }],
  });
});

test('a new configuration is kept, even if the old one could not be deleted before', () => {
  const { disk, store } = breakable();
  store.saveTrunk({ id: 'old', active: 1 });
  disk.error = full;
  store.keepOnly(['new'], []);
  store.saveTrunk({ id: 'new', active: 2 });
  disk.error = null;
  store.forgetEndpoint('none');
  expect(store.load().trunks).toEqual([{ id: 'new', active: 2 }]);
});

test('a programming error is thrown, once', () => {
  const { disk, store } = breakable();
  disk.error = new SqliteError('no such table', 'SQLITE_ERROR');
  expect(() => store.saveTrunk({ id: 't1', active: 1 })).toThrow('no such table');
  disk.error = null;
  store.saveTrunk({ id: 't2', active: 1 });
  expect(store.load().trunks).toEqual([{ id: 't2', active: 1 }]);
});
