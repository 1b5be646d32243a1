/** Values of an earlier version's database, whatever that version, the disk and the person at the terminal did before. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { integer } from '../shapes.ts';
import type { StorageFault } from '../storage-fault.ts';
import { openKeptValues } from './earlier-database.ts';
import type { KeptValues } from './kept-values.ts';

let folder: string;
let faults: StorageFault[];
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-'));
  path = join(folder, 'kept');
  faults = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = () =>
  openKeptValues<number>(path, {
    shape: integer(),
    failed: (fault) => faults.push(fault),
    tables: {
      numbers: (db) =>
        db
          .prepare<[], { key: string; value: number }>('SELECT key, value FROM numbers')
          .all()
          .map(({ key, value }) => [key, value]),
    },
  });

/** As an earlier version leaves it; null: it ended before it had made its table. */
function earlier(values: Record<string, number> | null): void {
  const db = new Database(`${path}.db`);
  db.pragma('journal_mode = WAL');
  if (values !== null) {
    db.exec('CREATE TABLE numbers (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT');
    for (const [key, value] of Object.entries(values))
      db.prepare('INSERT INTO numbers VALUES (?, ?)').run(key, value);
  }
  db.close();
}

const contents = (values: KeptValues<number>) => Object.fromEntries(values.entries());

async function restarted(): Promise<Record<string, number>> {
  const values = await open();
  const found = contents(values);
  await values.close();
  return found;
}

async function change(values: Record<string, number>): Promise<void> {
  const kept = await open();
  for (const [key, value] of Object.entries(values)) kept.set(key, value);
  await kept.close();
}

test('an earlier database takes the place of all that is in the journal: it was written later', async () => {
  await change({ a: 1, b: 2 });
  earlier({ a: 3 });
  expect(await restarted()).toEqual({ a: 3 });
  expect(readdirSync(folder)).toEqual(['kept.journal']);
  expect(await restarted()).toEqual({ a: 3 });
});

test.each([
  ['of 0 octets', () => writeFileSync(`${path}.db`, '')],
  ['without its table', () => earlier(null)],
  ['without rows', () => earlier({})],
])('an earlier database %s says that there was nothing', async (_, make) => {
  await change({ a: 1 });
  make();
  expect(await restarted()).toEqual({});
  expect(existsSync(`${path}.db`)).toBe(false);
});

test('while the journal cannot be written the database stays, and goes with the first write that succeeds', async () => {
  earlier({ a: 1, b: 1 });
  mkdirSync(`${path}.journal.new`);
  const values = await open();
  expect(faults).toHaveLength(1);
  expect(contents(values)).toEqual({ a: 1, b: 1 });
  expect(existsSync(`${path}.db`)).toBe(true);
  rmSync(`${path}.journal.new`, { recursive: true });
  values.set('a', 2);
  await values.written();
  expect(existsSync(`${path}.db`)).toBe(false);
  await values.close();
  expect(await restarted()).toEqual({ a: 2, b: 1 });
});

test('a start that could write nothing leaves everything as it was', async () => {
  earlier({ a: 1 });
  mkdirSync(`${path}.journal.new`);
  const values = await open();
  values.set('a', 2);
  await values.close();
  rmSync(`${path}.journal.new`, { recursive: true });
  expect(await restarted()).toEqual({ a: 1 });
});

test('a database that is damaged is named, and stays', async () => {
  writeFileSync(`${path}.db`, 'no database at all, but long enough to be one'.repeat(50));
  await expect(open()).rejects.toMatchObject({ path: `${path}.db` });
  expect(existsSync(`${path}.db`)).toBe(true);
});

test('a journal of another version is named, and stays as it is', async () => {
  const text = Buffer.from('\x1eTV2 and what that version writes', 'latin1');
  writeFileSync(`${path}.journal`, text);
  await expect(open()).rejects.toThrow(`${path}.journal is of another version`);
  expect(readFileSync(`${path}.journal`)).toEqual(text);
});

test('a frame that is no JSON is left out', async () => {
  const text = Buffer.from('[["a",1]');
  const head = Buffer.alloc(12);
  head.write('\x1eTV1', 'latin1');
  head.writeUInt32BE(text.length, 4);
  head.writeUInt32BE(crc32(text), 8);
  writeFileSync(`${path}.journal`, Buffer.concat([head, text]));
  expect(await restarted()).toEqual({});
  await change({ a: 2 });
  expect(await restarted()).toEqual({ a: 2 });
});
