/** The name of the console's folder has the hash of everything that it is made of. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { otherFiles } from './location.ts';

const root = dirname(dirname(import.meta.dirname));

/** What a file imports of this project, besides types: those are not in the build. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8').replaceAll(/^import type .*?;$/gms, '');
  return [...code.matchAll(/\bfrom '((?:\.|#shared\/)[^']+\.tsx?)'/g)].map(([, target = '']) =>
    target.startsWith('#') ? target.slice(1) : normalize(join(dirname(file), target)),
  );
}

it('is made of all files outside of console/ that the page imports', () => {
  const open = readdirSync(join(root, 'console'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
    .map((name) => join('console', name));
  expect(open.length).toBeGreaterThan(100);
  const found = new Set(open);
  for (const file of found) for (const target of importsOf(file)) found.add(target);
  const outside = [...found].filter((file) => !file.startsWith('console/'));
  expect(outside.sort()).toEqual(otherFiles.filter((file) => file.endsWith('.ts')).sort());
});
