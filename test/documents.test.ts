/** docs/settings.md lists all settings; a failure shows the line to paste. No document has a dead link. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Setting } from '#shared/setting-reader.ts';
import { settings as control } from '../control/settings/settings.ts';
import { settings as edge } from '../edge/settings.ts';

const root = join(import.meta.dirname, '..');
/** Without the padding of table cells. */
const page = readFileSync(join(root, 'docs', 'settings.md'), 'utf8').replace(/ +\|/g, ' |');

function lineFor(program: string, { name, default: value, description }: Setting): string {
  return `| \`${name}\` | ${program} |${value === '' ? '' : ` \`${value}\``} | ${description} |`;
}

/** A setting of both programs with one default has one line, with the edge's description. */
function expectedLines(): string[] {
  const inBoth = (one: Setting, others: readonly Setting[]) =>
    others.some(({ name, default: value }) => name === one.name && value === one.default);
  return [
    ...edge.map((setting) => lineFor(inBoth(setting, control) ? 'both' : 'edge', setting)),
    ...control.filter((setting) => !inBoth(setting, edge)).map((setting) => lineFor('control', setting)),
    '| `TRUNKLINE_CACHE` | set-up, edge | `~/.cache/trunkline` | Folder of the built media worker and the test peers. |',
  ];
}

test('the settings page lists the settings of the programs, in order', () => {
  expect(
    page
      .split('\n')
      .filter((line) => line.startsWith('| `') && / \| (both|edge|control|set-up, edge) \| /.test(line)),
  ).toEqual(expectedLines());
});

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const links = documents.flatMap((document) =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(
    ([, target]) => [document, target ?? ''] as const,
  ),
);

/** The anchor that a page shows for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

test.each(links)('%s: the target of the link %s exists', (document, link) => {
  const [target = '', anchor] = link.split('#');
  const page = target === '' ? join(root, document) : join(root, dirname(document), target);
  expect(existsSync(page)).toBe(true);
  if (anchor === undefined || !page.endsWith('.md')) return;
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  expect(headings.map(anchorOf)).toContain(anchor);
});

test('every file and folder named in ARCHITECTURE.md exists', () => {
  const named = [
    ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/`([a-z][\w./-]*\/[\w./-]*)`/g),
  ];
  const missing = named.map(([, name = '']) => name).filter((name) => !existsSync(join(root, name)));
  expect(named.length).toBeGreaterThan(30);
  expect(missing.filter((name) => !/^[a-z-]+\/$/.test(name))).toEqual([]);
});
