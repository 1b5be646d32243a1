import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { byPath } from './own-modules.ts';

const root = join(import.meta.dirname, '..');

describe('modules found by their path', () => {
  it('are those that Node finds, in all of the product', () => {
    const compared = new Set<string>();
    for (const file of globSync('{shared,outgoing,edge,control}/**/*.ts', { cwd: root })) {
      const importer = join(root, file);
      const { resolve } = createRequire(importer);
      for (const [, specifier = ''] of readFileSync(importer, 'utf8').matchAll(/ from '([^']+)';$/gm)) {
        const found = byPath(specifier, pathToFileURL(importer).href);
        if (found === null || compared.has(found.url)) continue;
        compared.add(found.url);
        expect(`${file}: ${found.url}`).toBe(`${file}: ${pathToFileURL(resolve(specifier)).href}`);
      }
    }
    expect(compared.size).toBeGreaterThan(900);
  });

  it('are not those of packages, nor of modules without a path', () => {
    const importer = pathToFileURL(import.meta.filename).href;
    expect(byPath('pino', importer)).toBeNull();
    expect(byPath('node:path', importer)).toBeNull();
    expect(byPath('./index.js', importer)).toBeNull();
    expect(byPath('./clock.ts', undefined)).toBeNull();
    expect(byPath('./clock.ts', 'data:text/javascript,')).toBeNull();
  });
});
