import { expect, it } from 'vitest';
import { plainWords } from './arguments.ts';

const coded = (message: string, more: object, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), more);

it.each([
  ['SQLite on a full disk', coded('database or disk is full', { code: 'SQLITE_FULL' }), 'the disk is full'],
  [
    'a folder without write permission',
    coded('EACCES: permission denied', { code: 'EACCES', path: '/srv/backup' }),
    '/srv/backup is not accessible to this user. Run it as the owner of the data folder',
  ],
  [
    'a read-only file system',
    coded('EROFS: read-only file system', { code: 'EROFS', path: '/srv/backup' }),
    'Nothing can be written (/srv/backup): the file system is read-only',
  ],
  [
    'a migration on a full disk',
    coded('Database migration failed', {}, coded('disk I/O error', { code: 'SQLITE_IOERR_WRITE' })),
    'the disk or its file system is failing',
  ],
  [
    'a damaged database',
    coded('database disk image is malformed', { code: 'SQLITE_CORRUPT', path: '/srv/data/control.db' }),
    'The database /srv/data/control.db is damaged (database disk image is malformed). Restore a backup',
  ],
  [
    'a file in the place of the data folder',
    coded('EEXIST: file already exists', { code: 'EEXIST', path: '/srv/data' }),
    '/srv/data is not a folder',
  ],
])('%s gives a sentence about the disk, without a stack', (_, error, words) => {
  expect(plainWords(error)).toContain(words);
  expect(plainWords(error)).not.toContain('    at ');
});

it('passes program faults through unchanged', () => {
  expect(plainWords(new TypeError('x is undefined'))).toBeNull();
});
