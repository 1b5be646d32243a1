/** docs/settings.md is that of the table of settings. No document has a dead link, or lacks a picture. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventTypes } from '../control/events/types.ts';
import { settingsPage } from '../scripts/settings-page.ts';
import { largestPicture, pictures } from './pictures/screens.ts';

const root = join(import.meta.dirname, '..');
test('the settings page is that of the table of settings; node scripts/settings-page.ts writes it', () => {
  expect(readFileSync(join(root, 'docs', 'settings.md'), 'utf8')).toBe(settingsPage());
});

test('the page of events has every type, and no other', () => {
  const page = readFileSync(join(root, 'docs', 'contract', '17-events.md'), 'utf8');
  const [, table = ''] = page.split('## 17.2 Types');
  const rows = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  const shown = rows.flatMap((cell) => [...cell.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type]) => type));
  expect(shown.sort()).toEqual([...eventTypes].sort());
});

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...['clients', 'deploy', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
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

/** @param anchor of a heading; undefined: the page is enough */
function isPlace(page: string, anchor?: string): boolean {
  if (!existsSync(page)) return false;
  if (anchor === undefined || !page.endsWith('.md')) return true;
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text);
  return headings.map(anchorOf).includes(anchor);
}

test.each(links)('%s: the target of the link %s exists', (document, link) => {
  const [target = '', anchor] = link.split('#');
  const page = target === '' ? join(root, document) : join(root, dirname(document), target);
  expect(isPlace(page, anchor)).toBe(true);
});

test('every page and place of docs/ that code, units and manifests name is there', () => {
  const folders = [
    'clients',
    'console',
    'control',
    'deploy',
    'edge',
    'outgoing',
    'scripts',
    'shared',
    'test',
  ];
  const named = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter(
        (file) => file.isFile() && !/node_modules|testdata|generated/.test(join(file.parentPath, file.name)),
      )
      .map((file) => join(file.parentPath, file.name))
      .filter((file) => /\.(?:tsx?|mjs|ya?ml|service|cfg|json|xml)$|Containerfile$/.test(file))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/docs\/([\w/-]+\.md)(?:#([\w-]+))?/g)].map(
          ([, page = '', anchor]) => ({ file, page: join(root, 'docs', page), anchor }),
        ),
      ),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ page, anchor }) => !isPlace(page, anchor))).toEqual([]);
});

test('the page of the console shows each picture that npm run pictures makes, with a text; none is large', () => {
  const page = readFileSync(join(root, 'docs', 'console.md'), 'utf8');
  const shown = [...page.matchAll(/^!\[[^\]]{20,}\]\(pictures\/([\w-]+)\.webp\)$/gm)].map(
    ([, name = '']) => name,
  );
  expect(shown.sort()).toEqual(pictures.map(({ name }) => name).sort());
  const large = shown.filter(
    (name) => statSync(join(root, 'docs', 'pictures', `${name}.webp`)).size > largestPicture,
  );
  expect(large).toEqual([]);
});

test('every file and folder named in ARCHITECTURE.md exists', () => {
  const named = [
    ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/`([a-z][\w./-]*\/[\w./-]*)`/g),
  ];
  const missing = named.map(([, name = '']) => name).filter((name) => !existsSync(join(root, name)));
  expect(named.length).toBeGreaterThan(30);
  expect(missing.filter((name) => !/^[a-z-]+\/$/.test(name))).toEqual([]);
});
