import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRefusalStore } from './refused-registrations.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refusals-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = () => openRefusalStore(join(folder, 'registrations'), (fault) => expect.fail(fault));
const refusal = { until: 9_000, pauseMs: 300_000, sipCode: 403, error: 'The registrar refuses.' };

test('refusals are kept over a restart until they are forgotten, and count for their records only', async () => {
  const store = await open();
  for (const name of ['a', 'b', 'c']) store.keep(name, 'mark', { ...refusal, until: 8_999.6 });
  store.forget('b');
  store.keepOnly(['a', 'd']);
  await store.close();
  const again = await open();
  expect(again.refusalOf('a', 'mark')).toEqual(refusal);
  expect(again.refusalOf('a', 'another mark')).toBeNull();
  for (const name of ['b', 'c', 'd']) expect(again.refusalOf(name, 'mark')).toBeNull();
  await again.close();
});

test('the database of an earlier version is taken over, and removed', async () => {
  const db = new Database(join(folder, 'registrations.db'));
  db.pragma('journal_mode = WAL');
  db.exec(`
    CREATE TABLE refusals (
      name TEXT PRIMARY KEY, mark TEXT NOT NULL, until INTEGER NOT NULL, pause_ms INTEGER NOT NULL,
      sip_code INTEGER, error TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO refusals VALUES ('a', 'mark', 9000, 300000, 403, 'The registrar refuses.'),
      ('b', 'mark', 9000, 300000, NULL, 'It has no address.');
  `);
  db.close();
  const store = await open();
  expect(readdirSync(folder)).toEqual(['registrations.journal']);
  await store.close();
  const again = await open();
  expect(again.refusalOf('a', 'mark')).toEqual(refusal);
  expect(again.refusalOf('b', 'mark')).toMatchObject({ sipCode: null, error: 'It has no address.' });
  await again.close();
});
