/**
 * Which tests of control use a database of the kit: they run on PostgreSQL too. A test that reaches the kit by no import
 * would do the same a second time.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const kit = 'test/kit/db/test-database.ts';

/** Paths of test files below `control/`, relative to `root`. */
export function databaseTests(root: string): string[] {
  const imported = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imported.get(file);
    if (known) return known;
    const text = readFileSync(join(root, file), 'utf8');
    const found = [...text.matchAll(/(?:from|import\(?)\s*'(\.[^']*\.ts)'/g)].map(([, path = '']) =>
      relative(root, join(root, dirname(file), path)),
    );
    imported.set(file, found);
    return found;
  };
  const reaches = (file: string): boolean => {
    const seen = new Set([file]);
    for (const one of seen) {
      if (one === kit) return true;
      for (const next of importsOf(one)) seen.add(next);
    }
    return false;
  };
  return globSync('control/**/*.test.ts', { cwd: root }).filter(reaches).sort();
}
