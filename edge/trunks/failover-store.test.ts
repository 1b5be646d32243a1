import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFailoverStore } from './failover-store.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'failover-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = () => openFailoverStore(join(folder, 'failover'), (fault) => expect.fail(fault));
const dead = { key: 'a:5061', reachable: false, at: 5 };
const alive = { key: 'b:5061', reachable: true, at: 6 };

/** As versions before the journal wrote it. */
function earlierDatabase(active: number): void {
  const db = new Database(join(folder, 'failover.db'));
  db.pragma('journal_mode = WAL');
  db.exec(`
    CREATE TABLE trunks (id TEXT PRIMARY KEY, active INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE endpoints (
      key TEXT PRIMARY KEY, reachable INTEGER NOT NULL, at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO endpoints VALUES ('a:5061', 0, 5), ('b:5061', 1, 6);
  `);
  db.prepare('INSERT INTO trunks VALUES (?, ?)').run('t1', active);
  db.close();
}

test('what was saved is there after a restart, and what was forgotten is not', async () => {
  const store = await open();
  store.saveTrunk({ id: 't1', active: 1 });
  store.saveTrunk({ id: 't2', active: 0 });
  store.saveTrunk({ id: 't1', active: 2 });
  store.saveEndpoint(dead);
  store.saveEndpoint(alive);
  store.saveEndpoint({ key: 'c:5061', reachable: true, at: 7 });
  store.forgetEndpoint('c:5061');
  store.keepOnly(['t1', 't3'], ['a:5061', 'b:5061']);
  await store.close();
  const again = await open();
  expect(again.load()).toEqual({ trunks: [{ id: 't1', active: 2 }], endpoints: [dead, alive] });
  await again.close();
});

test('the database of an earlier version is taken over, and removed', async () => {
  earlierDatabase(3);
  const store = await open();
  const expected = { trunks: [{ id: 't1', active: 3 }], endpoints: [dead, alive] };
  expect(store.load()).toEqual(expected);
  expect(readdirSync(folder)).toEqual(['failover.journal']);
  await store.close();
  const again = await open();
  expect(again.load()).toEqual(expected);
  await again.close();
});

test('after a return to an earlier version, its database has the newest state', async () => {
  const store = await open();
  store.saveTrunk({ id: 't1', active: 1 });
  await store.close();
  earlierDatabase(2);
  const again = await open();
  expect(again.load().trunks).toEqual([{ id: 't1', active: 2 }]);
  await again.close();
});

test('a database that is damaged is named, and stays', async () => {
  writeFileSync(join(folder, 'failover.db'), 'no database at all, but long enough to be one'.repeat(50));
  await expect(open()).rejects.toMatchObject({ path: join(folder, 'failover.db') });
  expect(readdirSync(folder)).toContain('failover.db');
});
