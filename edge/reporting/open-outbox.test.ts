/** The outbox of an earlier version in the data folder, and what a crash in the middle of the change leaves. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { openOutbox } from './open-outbox.ts';
import type { Outbox } from './outbox.ts';

const at = '2030-01-01T00:00:10.000Z';
let folder: string;
let outbox: Outbox | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outbox-'));
  outbox = null;
});
afterEach(async () => {
  await outbox?.close();
  rmSync(folder, { recursive: true });
});

const open = async () => {
  await outbox?.close();
  outbox = null;
  outbox = await openOutbox(folder);
  return outbox;
};
const bodyOf = (name: string) => JSON.stringify({ type: 'transcript', call_id: name, entries: [] });

/** `outbox.db` as the version before the journal wrote it. */
function earlier(id: string, seqs: readonly number[]): Database.Database {
  const db = new Database(join(folder, 'outbox.db'));
  db.pragma('locking_mode = EXCLUSIVE');
  db.pragma('journal_mode = WAL');
  db.exec(`
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE reports (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE live_calls (id TEXT PRIMARY KEY, call TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta (key, value) VALUES ('id', '${id}'), ('alive_at', '2030-01-01T00:00:07.000Z');
  `);
  const insert = db.prepare('INSERT INTO reports (seq, at, body) VALUES (?, ?, ?)');
  for (const seq of seqs) insert.run(seq, at, bodyOf(`${id}-${seq}`));
  const call = callRecord({ id: `up-${id}`, answered_at: '2030-01-01T00:00:02.000Z' });
  db.prepare('INSERT INTO live_calls (id, call) VALUES (?, ?)').run(call.id, JSON.stringify(call));
  // Numbers that were given and acknowledged.
  db.exec("UPDATE sqlite_sequence SET seq = seq + 5 WHERE name = 'reports'");
  return db;
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

test('its reports keep their numbers and are sent first, and its calls are closed', async () => {
  const seqs = [...numbers(7, 250), 1_000_300, ...numbers(1_000_302, 3)];
  earlier('old', seqs).close();
  const now = await open();
  expect(now.id).toBe('old');
  expect(now.pending).toBe(seqs.length);
  expect(now.closeAbandonedCalls(at)).toBe(1);
  const reports = now.read(0, 1_000);
  expect(reports.slice(0, -1)).toEqual(seqs.map((seq) => ({ seq, at, body: bodyOf(`old-${seq}`) })));
  expect(reports.at(-1)?.body).toContain('"ended_at":"2030-01-01T00:00:07.000Z"');
  expect(reports.at(-1)?.seq).toBeGreaterThan(1_000_309);
  expect(readdirSync(folder).filter((name) => name.startsWith('outbox.db'))).toEqual([]);
  await open();
  expect(outbox?.read(0, 1_000)).toEqual(reports);
});

test('a crash before all is taken over changes nothing', async () => {
  earlier('old', [1, 2, 3]).close();
  const unfinished = join(folder, 'outbox.new');
  mkdirSync(unfinished);
  writeFileSync(join(unfinished, '00000001'), 'unfinished');
  expect((await open()).read(0, 10).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(existsSync(unfinished)).toBe(false);
});

test('a crash before it is deleted repeats nothing', async () => {
  earlier('old', [1, 2, 3]).close();
  cpSync(join(folder, 'outbox.db'), join(folder, 'copy'));
  await open();
  cpSync(join(folder, 'copy'), join(folder, 'outbox.db'));
  const now = await open();
  expect(now.read(0, 10).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(existsSync(join(folder, 'outbox.db'))).toBe(false);
});

test('after a return to the earlier version the reports of both are sent', async () => {
  const first = await open();
  first.append(at, { type: 'transcript', call_id: 'new', entries: [] });
  await first.close();
  outbox = null;
  earlier('old', [1, 3]).close();
  const now = await open();
  expect(now.id).toBe(first.id);
  expect(now.read(0, 10).map(({ body }) => body)).toEqual(['new', 'old-1', 'old-3'].map(bodyOf));
  expect(now.closeAbandonedCalls(at)).toBe(1);
  expect(existsSync(join(folder, 'outbox.db'))).toBe(false);
});

test('an edge of the earlier version that runs on the folder is noticed', async () => {
  const db = earlier('old', [1]);
  await expect(open()).rejects.toThrow(/outbox\.db is in use by another edge/);
  db.close();
});

test('a damaged one stops the start, and is kept', async () => {
  writeFileSync(join(folder, 'outbox.db'), 'not a database');
  await expect(open()).rejects.toMatchObject({ code: 'SQLITE_NOTADB', path: join(folder, 'outbox.db') });
  expect(existsSync(join(folder, 'outbox.db'))).toBe(true);
});
