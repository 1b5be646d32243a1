import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusals } from './refusals.ts';

test('docs/refused-calls.md has every reason with its meaning and what to change', () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'refused-calls.md'), 'utf8');
  for (const [reason, { summary, advice }] of Object.entries(refusals)) {
    const change = advice.replaceAll('SOURCE', 'the source').replaceAll('NUMBER', 'the number');
    expect(page).toContain(`| \`${reason}\` | ${summary} | ${change} |`);
  }
});
