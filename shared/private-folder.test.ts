import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepPrivate, ownerOnly } from '#shared/private-folder.ts';

let folder: string;
let mask: number;

beforeEach(() => {
  mask = process.umask(0o022);
  folder = mkdtempSync(join(tmpdir(), 'private-'));
  chmodSync(folder, 0o755);
});

afterEach(() => {
  process.umask(mask);
  rmSync(folder, { recursive: true });
});

const mode = (name = '') => statSync(join(folder, name)).mode & 0o777;
const open = (name: string) => writeFileSync(join(folder, name), '', { mode: 0o644 });

test('permissions of existing files are tightened, and new files are for the owner only', () => {
  mkdirSync(join(folder, 'tls'), { mode: 0o755 });
  const names = [
    'outbox.db',
    'outbox.db-wal',
    'failover.journal',
    'edge-config.json',
    'tls/server.key',
    'notes.txt',
  ];
  for (const name of names) open(name);
  rmSync(join(folder, 'outbox.db'));
  rmSync(join(folder, 'outbox.db-wal'));
  writeFileSync(join(folder, 'edge-id'), 'x', { mode: 0o644 });
  ownerOnly();
  expect(keepPrivate(folder)).toEqual([]);
  const db = new Database(join(folder, 'outbox.db'));
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (x)');
  expect([mode(), mode('tls')]).toEqual([0o700, 0o700]);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['outbox.db-wal', 'outbox.db-shm']));
  for (const name of [...readdirSync(folder).filter((one) => one !== 'tls'), 'tls/server.key'])
    expect([name, mode(name)]).toEqual([name, 0o600]);
  db.close();
});

test('a folder without our files is unchanged', () => {
  open('holiday.jpg');
  keepPrivate(folder);
  expect([mode(), mode('holiday.jpg')]).toEqual([0o755, 0o644]);
});

test('a shared folder keeps its mode and other files theirs; our files are tightened, and the folder is reported', () => {
  for (const name of ['edge-id', 'control.db', 'control.db-wal', 'secret.key', 'holiday.jpg']) open(name);
  chmodSync(folder, 0o1777);
  expect(keepPrivate(folder)).toEqual([folder]);
  expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  const modes = ['edge-id', 'control.db', 'control.db-wal', 'secret.key', 'holiday.jpg'].map((name) =>
    mode(name),
  );
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600, 0o644]);
  chmodSync(folder, 0o1700);
  expect(keepPrivate(folder)).toEqual([]);
});

test('targets of links are unchanged', () => {
  const outside = mkdtempSync(join(tmpdir(), 'outside-'));
  writeFileSync(join(outside, 'file'), '', { mode: 0o644 });
  open('edge-id');
  symlinkSync(join(outside, 'file'), join(folder, 'link'));
  symlinkSync(outside, join(folder, 'tls'));
  keepPrivate(folder);
  expect(statSync(join(outside, 'file')).mode & 0o777).toBe(0o644);
  rmSync(outside, { recursive: true });
});
