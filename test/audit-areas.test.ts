/** The console filters the log of changes by every area that control writes. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { areas } from '../console/screens/organization/areas.ts';

const root = dirname(import.meta.dirname);
/** Of the operator: no organization has them in its log. */
const operators = ['edges', 'proxies'];

it('the console knows every area of the log of changes', () => {
  const sources = globSync('control/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const written = sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\barea: '(\w+)'/g)].map(([, area]) => area),
  );
  expect([...new Set(written)].sort()).toEqual([...areas, ...operators].sort());
});
