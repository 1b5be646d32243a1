/** The contract (docs/contract): every section that comments and documents cite exists. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = globSync('docs/contract/*.md', { cwd: root });

/** Numbers of all headings: `3` of `# 3. SIP: …`, `3.4` of `## 3.4 Call logs …`. */
const sections = new Set(
  pages.flatMap((page) =>
    [...read(page).matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number),
  ),
);

const citation =
  /\bcontract(?:'s)? (?:section )?(\d+(?:\.\d+)?)((?:(?:, | and | to |, and )\d+(?:\.\d+)?)*)/g;

/** The sections cited in a text. */
function cited(text: string): string[] {
  // A citation may continue on the next line of a comment.
  const flat = text.replace(/\n\s*(?:\*|\/\/) ?/g, ' ');
  return [...flat.matchAll(citation)].flatMap(([, first = '', others = '']) => [
    first,
    ...[...others.matchAll(/\d+(?:\.\d+)?/g)].map(([number]) => number),
  ]);
}

const sources = globSync('{shared,outgoing,edge,control,scripts,test}/**/*.{ts,mjs}', { cwd: root });
const documents = globSync(['*.md', 'docs/*.md'], { cwd: root });

test('every cited section exists', () => {
  const missing = [...sources, ...documents].flatMap((file) =>
    cited(read(file))
      .filter((number) => !sections.has(number))
      .map((number) => `${file} cites ${number}`),
  );
  expect(missing).toEqual([]);
});

test('citations are found, also in lists and across line ends', () => {
  expect(sources.flatMap((file) => cited(read(file))).length).toBeGreaterThan(350);
  expect(
    cited('(contract 2.2 to 2.4), (contract 4 and 9.1),\n * contract\n * 3.5; contract section 10'),
  ).toEqual([...['2.2', '2.4', '4', '9.1', '3.5', '10']]);
});

test('section numbers are unique, in order, and on the page of their number', () => {
  for (const page of pages) {
    if (page.endsWith('README.md')) continue;
    const [own] = /\d+/.exec(page.split('/').at(-1) ?? '') ?? [];
    const numbers = [...read(page).matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number);
    const chapter = Number(own);
    expect(numbers).toEqual([`${chapter}`, ...numbers.slice(1).map((_, i) => `${chapter}.${i + 1}`)]);
  }
});
