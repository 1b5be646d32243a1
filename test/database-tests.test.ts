import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databaseTests } from './database-tests.ts';

test('tests that reach a database of the kit run on PostgreSQL too, also through files between; others do not', () => {
  const found = databaseTests(join(import.meta.dirname, '..'));
  expect(found).toContain('control/db/leases.test.ts');
  expect(found).toContain('control/calls/place.test.ts');
  expect(found).toContain('control/porting/letter.test.ts');
  expect(found).not.toContain('control/tools/code.test.ts');
  expect(found.every((file) => file.startsWith('control/'))).toBe(true);
});
