import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const colours = (file: string) =>
  new Map(
    Array.from(
      readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(
        /^ {2}(--[a-z-]+): (light-dark\(.*\));$/gm,
      ),
      ([, name = '', value = '']) => [name, value] as const,
    ),
  );

test('the pages of the documentation have the colours of the console, which are checked for contrast there', () => {
  const console = colours('../../../console/styles/base.css');
  const pages = colours('browser/docs.css');
  expect(pages.size).toBeGreaterThan(10);
  expect(Object.fromEntries(pages)).toEqual(
    Object.fromEntries(Array.from(pages, ([name]) => [name, console.get(name)])),
  );
});
