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

test('requests that an advice names are in the API', () => {
  const file = join(import.meta.dirname, '..', 'clients', 'typescript', 'src', 'generated.ts');
  const known = readFileSync(file, 'utf8').replaceAll(/\{\w+\}/g, '{}');
  const named = Object.values(refusals).flatMap(({ advice }) => advice.match(/[A-Z]+ \/v\d[^) ]*/g) ?? []);
  expect(named.length).toBeGreaterThan(0);
  for (const one of named) {
    const operation = one.replaceAll(/NUMBER|\{\w+\}/g, '{}');
    expect(known, one).toContain(`'${operation}': {`);
  }
});
