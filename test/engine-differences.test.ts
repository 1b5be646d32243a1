/** The tests that a drachtio-server does not pass are listed, with the difference that operators read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drachtioPath } from './kit/programs/drachtio-program.ts';
import { differenceOf, engineDifferences } from './kit/programs/engine-differences.ts';

const text = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const page = text('docs/engines.md');

describe('the setting SIP_ENGINE', () => {
  it.each([
    ['', null],
    ['embedded', null],
    ['drachtio:/usr/local/bin/drachtio', '/usr/local/bin/drachtio'],
  ])('%j is %j', (setting, expected) => {
    expect(drachtioPath(setting)).toBe(expected);
  });

  it.each(['drachtio', 'drachtio:relative', 'kamailio:/x'])(
    '%j is rejected with what it may be',
    (setting) => {
      expect(() => drachtioPath(setting)).toThrow('set it to "embedded" or "drachtio:/path"');
    },
  );
});

describe.each(engineDifferences)('$row', ({ row, tests }) => {
  it('is a row of the table for operators', () => {
    expect(page).toContain(`\n| ${row} |`);
  });

  it.each(Object.entries(tests))('names tests of %s', (file, names) => {
    const source = text(file);
    for (const name of names) expect(source).toContain(name);
  });
});

it('lists whole files and single tests', () => {
  expect(differenceOf('test/system/agent-test-call.test.ts', 'any')?.row).toContain('to itself');
  expect(differenceOf('test/system/abuse.test.ts', 'rejects more headers than its limit')?.row).toContain(
    'limits',
  );
  expect(differenceOf('test/system/abuse.test.ts', 'another test')).toBeNull();
  expect(differenceOf('test/system/crash.test.ts', 'any')).toBeNull();
});
