/** The import table of ARCHITECTURE.md, run over every import of the product. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);

/** What the files of a folder may import besides those of the folder itself. A prefix of the path decides. */
const table: readonly { readonly folder: string; readonly may: readonly string[] }[] = [
  { folder: 'shared/agent', may: ['shared/'] },
  { folder: 'shared', may: [] },
  { folder: 'outgoing', may: ['shared/'] },
  { folder: 'edge/engine', may: ['shared/'] },
  { folder: 'edge/call', may: ['shared/'] },
  { folder: 'edge/signaling', may: ['shared/', 'edge/call/'] },
  { folder: 'edge/media', may: ['shared/', 'edge/call/'] },
  { folder: 'edge/agent', may: ['shared/', 'outgoing/', 'edge/call/'] },
  { folder: 'edge/trunks', may: ['shared/', 'edge/call/'] },
  { folder: 'edge/reporting', may: ['shared/'] },
  // main.ts and what it is made of: hands everything together, except the engine, a program of its own.
  { folder: 'edge', may: ['shared/'] },
  { folder: 'control/db', may: ['shared/'] },
  { folder: 'control/http', may: ['shared/', 'control/db/'] },
  {
    folder: 'control/:area',
    may: [
      'shared/',
      'control/db/',
      'control/http/',
      'outgoing/',
      'control/conversations/',
      'control/config.ts',
      'control/services.ts',
    ],
  },
  { folder: 'control', may: ['shared/'] },
];

const never: readonly { readonly from: string; readonly to: string }[] = [
  { from: 'shared/agent/', to: 'shared/models/' },
  { from: 'edge/main.ts', to: 'edge/engine/' },
];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Tests, and what only tests use: `testing.ts`, `testing-wss.ts`, `testing/`, `fixture.ts`. */
const testSupport = /\.test\.ts$|(^|\/)(testing[^/]*|fixture)(\.ts$|\/)/;

/** The product's files. */
function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !testSupport.test(file))
    .map((file) => join(folder, file));
}

/** Imports of files of ours: static, dynamic, of types, and re-exports. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const names = [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return names.flatMap((name) => {
    if (name.startsWith('#')) return [{ from: file, to: name.slice(1) }];
    return name.startsWith('.') ? [{ from: file, to: normalize(join(dirname(file), name)) }] : [];
  });
}

/** The row of the table for a file, and the folder that its `:area` stands for. */
function rowFor(file: string): { folder: string; may: readonly string[] } | null {
  for (const { folder, may } of table) {
    const pattern = new RegExp(`^${folder.replace(':area', '[^/]+')}/`);
    const match = pattern.exec(file);
    if (match) return { folder: match[0], may };
  }
  return null;
}

/** Another area of control is open through what decides (`rules`) and what stores (`store`), not its routes. */
function isOpenArea(file: string): boolean {
  return /^control\/[^/]+\/([a-z-]+-)?(rules|store)\.ts$/.test(file);
}

function isAllowed({ from, to }: Import): boolean {
  if (never.some((rule) => from.startsWith(rule.from) && to.startsWith(rule.to))) return false;
  const row = rowFor(from);
  if (!row) return false;
  if (to.startsWith('edge/engine/') && row.folder !== 'edge/engine/') return false;
  if (to.startsWith(row.folder) || row.may.some((prefix) => to.startsWith(prefix))) return true;
  return row.folder.startsWith('control/') && isOpenArea(to);
}

const files = ['shared', 'outgoing', 'edge', 'control'].flatMap(sources);
const imports = files.flatMap(importsOf);

test.each(['shared', 'outgoing', 'edge', 'control'])('%s has files, and imports between them', (folder) => {
  expect(files.filter((file) => file.startsWith(`${folder}/`)).length).toBeGreaterThan(2);
  expect(imports.filter(({ from }) => from.startsWith(`${folder}/`)).length).toBeGreaterThan(2);
});

test('every import is one that the table allows', () => {
  const forbidden = imports.filter((one) => !isAllowed(one));
  expect(forbidden.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([]);
});

test('addresses are compared and recognised in one place', () => {
  const asText = /::ffff:|[!=]== '(?:0\.0\.0\.0|::)'|[hH]ost\.toLowerCase\(\) [!=]== /;
  const found = files.filter((file) => asText.test(readFileSync(join(root, file), 'utf8')));
  expect(found).toEqual(['shared/networks.ts']);
});

test('every row is about a folder that is there', () => {
  const folders = table.map(({ folder }) => folder.replace('/:area', ''));
  expect(folders.filter((folder) => !files.some((file) => file.startsWith(`${folder}/`)))).toEqual([]);
  const named = [...table.flatMap(({ may }) => may), ...never.flatMap(({ from, to }) => [from, to])];
  expect(named.filter((prefix) => !files.some((file) => file.startsWith(prefix)))).toEqual([]);
});

test('the table refuses what it is there to refuse', () => {
  const refused: [string, string][] = [
    ['shared/agent/interpreter.ts', 'shared/models/rule-engine.ts'],
    ['shared/errors.ts', 'edge/call/call.ts'],
    ['shared/models/model-fetch.ts', 'outgoing/request.ts'],
    ['outgoing/connect.ts', 'control/config.ts'],
    ['edge/call/call.ts', 'outgoing/request.ts'],
    ['edge/call/call.ts', 'edge/media/media.ts'],
    ['edge/signaling/srf.ts', 'edge/media/media.ts'],
    ['edge/signaling/srf.ts', 'edge/engine/message/parse.ts'],
    ['edge/main.ts', 'edge/engine/main.ts'],
    ['edge/main.ts', 'control/app.ts'],
    ['control/calls/store.ts', 'edge/call/call.ts'],
    ['control/calls/routes.ts', 'control/sip/routes.ts'],
  ];
  for (const [from, to] of refused)
    expect({ from, to, allowed: isAllowed({ from, to }) }).toMatchObject({ allowed: false });
});

test('imports stay within the project', () => {
  const outside = imports.filter(({ to }) => relative('.', to).startsWith('..') || to.startsWith('test/'));
  expect(outside).toEqual([]);
});
