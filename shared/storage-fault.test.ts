import { expect, test } from 'vitest';
import { storageFault, storageWords } from '#shared/storage-fault.ts';

const withCode = (code: unknown) => Object.assign(new Error('failed'), { code });

test.each([
  ['SQLITE_FULL', 'full'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['SQLITE_READONLY_DBMOVED', 'read_only'],
  ['EROFS', 'read_only'],
  ['SQLITE_IOERR_WRITE', 'failing'],
  ['SQLITE_CANTOPEN', 'failing'],
  ['SQLITE_CORRUPT_VTAB', 'failing'],
  ['EIO', 'failing'],
])('%s is a disk fault: %s', (code, fault) => {
  expect(storageFault(withCode(code))).toBe(fault);
});

test.each([
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_BUSY',
  'SQLITE_ERROR',
  'ENOENT',
  'ECONNREFUSED',
  7,
  undefined,
])('%s is not a disk fault', (code) => {
  expect(storageFault(withCode(code))).toBeNull();
});

test('a value that is not an error is not a disk fault', () => {
  for (const thrown of ['ENOSPC', null, { code: 'ENOSPC' }]) expect(storageFault(thrown)).toBeNull();
});

test('a file of another user is reported as not accessible, for reading and writing', () => {
  const error = Object.assign(new Error('EACCES: permission denied'), {
    code: 'EACCES',
    path: '/data/secret.key',
  });
  expect(storageWords(error, '')).toBe(
    '/data/secret.key is not accessible to this user. Run it as the owner of the data folder (TRUNKLINE_DATA), or correct the owner of the path. EACCES: permission denied',
  );
});
