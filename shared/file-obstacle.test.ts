/** Start errors for files of another user or of the wrong type: with a real database and a real second user. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';

const isRoot = process.getuid?.() === 0;
const other = 65_534;
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-obstacle-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'data'));
  file = join(folder, 'data', 'control.db');
  const database = new Database(file);
  database.exec('pragma journal_mode = wal; create table one (two)');
  database.close();
  if (isRoot) for (const path of [join(folder, 'data'), file]) chownSync(path, other, other);
});
afterEach(() => {
  chmodSync(join(folder, 'data'), 0o700);
  rmSync(folder, { recursive: true, force: true });
});

/** Output of a program, run by a user other than root, that opens and writes the database. */
function said(): string {
  const script = `
    const { default: Database } = await import(${JSON.stringify(import.meta.resolve('better-sqlite3'))});
    const { namingPath, storageWords } = await import(${JSON.stringify(import.meta.resolve('./storage-fault.ts'))});
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(${other}); process.setuid(${other}); }
    const file = ${JSON.stringify(file)};
    try {
      namingPath(file, () => new Database(file).exec('pragma journal_mode = wal; insert into one values (1)'));
      console.log('written');
    } catch (error) {
      console.log(storageWords(error, '') ?? error);
    }`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  return stdout.trim() + stderr;
}

/** A file of root if we run as root, else one of ours without permissions. */
function close(path: string, mode: number): void {
  if (isRoot) chownSync(path, 0, 0);
  chmodSync(path, mode);
}

const whose = (mode: string) =>
  isRoot
    ? new RegExp(
        `belongs to root \\(user 0\\), mode ${mode}; this program runs as \\w+ \\(user ${other}\\) and cannot`,
      )
    : new RegExp(`belongs to .*, mode ${mode}; this program runs as .* and cannot`);

test('a usable database', () => {
  expect(said()).toBe('written');
});

test.each(['', '-wal', '-shm'])('control.db%s owned by another user', (ending) => {
  if (ending !== '') writeFileSync(file + ending, '');
  close(file + ending, isRoot ? 0o600 : 0);
  const words = said();
  expect(words).toMatch(whose(isRoot ? '0600' : '0000'));
  expect(words).toContain(`${file}${ending} belongs to`);
  expect(words).toMatch(isRoot ? /Give it to \w+: chown \w+ \S+\./ : /chmod u\+rw/);
});

test('a read-only database', () => {
  close(file, 0o444);
  expect(said()).toMatch(whose('0444'));
  expect(said()).toContain('cannot write it');
});

test('a folder that cannot be entered, and one that is not writable', () => {
  close(join(folder, 'data'), isRoot ? 0o700 : 0o600);
  expect(said()).toContain(`The folder ${join(folder, 'data')} belongs to`);
  expect(said()).toContain('cannot enter it');
  close(join(folder, 'data'), 0o555);
  expect(said()).toContain('cannot write into it');
});

test.each(['', '-wal'])('a folder in place of control.db%s', (ending) => {
  rmSync(file + ending, { force: true });
  mkdirSync(file + ending);
  expect(said()).toContain(`${file}${ending} is a folder, but must be a file.`);
});

test('a file in place of the folder', () => {
  rmSync(join(folder, 'data'), { recursive: true });
  writeFileSync(join(folder, 'data'), '');
  expect(said()).toContain(`${join(folder, 'data')} is a file, but must be a folder.`);
});

test('a file that is only read needs read permission only, and its folder too', () => {
  const script = `
    const { fileObstacle } = await import(${JSON.stringify(import.meta.resolve('./file-obstacle.ts'))});
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(${other}); process.setuid(${other}); }
    console.log(fileObstacle(${JSON.stringify(file)}, 'read'), fileObstacle(${JSON.stringify(file)}) === null);`;
  close(file, 0o444);
  close(join(folder, 'data'), 0o555);
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stdout).toBe('null false\n');
});
