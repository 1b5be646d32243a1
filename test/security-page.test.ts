import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8');

test('every proof on the security page exists', () => {
  const named = [...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('each threat has a defense and a proof', () => {
  const [, table = ''] = page.split('## Threats');
  const rows = (table.split('## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  expect(rows.filter((row) => row.split(' | ').length !== 3 || !row.includes('.ts`'))).toEqual([]);
});
