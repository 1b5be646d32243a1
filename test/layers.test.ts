/** Checks every import of the product against the import table of ARCHITECTURE.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);

/** The folders that a folder may import besides itself, by path prefix. */
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
  { folder: 'edge/fleet', may: ['shared/'] },
  { folder: 'edge/shards', may: ['shared/', 'edge/call/'] },
  // main.ts and the files that connect the parts; not the engine, which is a separate program.
  { folder: 'edge', may: ['shared/'] },
  // Which areas of control may import each other is in the layer table of ARCHITECTURE.md, see below.
  { folder: 'control', may: ['shared/', 'outgoing/'] },
  // Runs in a browser: what it imports of shared must need nothing of Node.
  { folder: 'console', may: ['shared/', 'clients/typescript/'] },
  // Published: it takes nothing along.
  { folder: 'clients/typescript', may: [] },
  { folder: 'clients/mcp', may: ['clients/typescript/', 'shared/'] },
];

const never: readonly { readonly from: string; readonly to: string }[] = [
  { from: 'shared/agent/', to: 'shared/models/' },
  { from: 'edge/main.ts', to: 'edge/engine/' },
];

interface Import {
  readonly from: string;
  readonly to: string;
}

/** The product's files. */
function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
    .map((file) => join(folder, file));
}

/** Imports of project files: static, dynamic, type imports, and re-exports. */
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

/** The row of the table for a file. */
function rowFor(file: string): { folder: string; may: readonly string[] } | null {
  const row = table.find(({ folder }) => file.startsWith(`${folder}/`));
  return row ? { folder: `${row.folder}/`, may: row.may } : null;
}

function isAllowed({ from, to }: Import): boolean {
  if (never.some((rule) => from.startsWith(rule.from) && to.startsWith(rule.to))) return false;
  const row = rowFor(from);
  if (!row) return false;
  if (to.startsWith('edge/engine/') && row.folder !== 'edge/engine/') return false;
  return to.startsWith(row.folder) || row.may.some((prefix) => to.startsWith(prefix));
}

const files = ['shared', 'outgoing', 'edge', 'control', 'clients', 'console'].flatMap(sources);
const imports = files.flatMap(importsOf);

test.each(['shared', 'outgoing', 'edge', 'control', 'clients', 'console'])(
  '%s has files, and imports between them',
  (folder) => {
    expect(files.filter((file) => file.startsWith(`${folder}/`)).length).toBeGreaterThan(2);
    expect(imports.filter(({ from }) => from.startsWith(`${folder}/`)).length).toBeGreaterThan(2);
  },
);

test('the table allows every import', () => {
  const forbidden = imports.filter((one) => !isAllowed(one));
  expect(forbidden.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([]);
});

test('addresses are compared and parsed in one place', () => {
  const asText = /::ffff:|[!=]== '(?:0\.0\.0\.0|::)'|[hH]ost\.toLowerCase\(\) [!=]== /;
  const found = files.filter((file) => asText.test(readFileSync(join(root, file), 'utf8')));
  expect(found).toEqual(['shared/networks.ts']);
});

test('the folder of every row exists', () => {
  const folders = table.map(({ folder }) => folder);
  expect(folders.filter((folder) => !files.some((file) => file.startsWith(`${folder}/`)))).toEqual([]);
  const named = [...table.flatMap(({ may }) => may), ...never.flatMap(({ from, to }) => [from, to])];
  expect(named.filter((prefix) => !files.some((file) => file.startsWith(prefix)))).toEqual([]);
});

test('the table rejects forbidden imports', () => {
  const refused: [string, string][] = [
    ['shared/agent/interpreter.ts', 'shared/models/rule-engine.ts'],
    ['shared/errors.ts', 'edge/call/call.ts'],
    ['shared/models/model-fetch.ts', 'outgoing/request.ts'],
    ['outgoing/connect.ts', 'control/app.ts'],
    ['edge/call/call.ts', 'outgoing/request.ts'],
    ['edge/call/call.ts', 'edge/media/media.ts'],
    ['edge/signaling/srf/srf.ts', 'edge/media/media.ts'],
    ['edge/signaling/srf/srf.ts', 'edge/engine/message/parse.ts'],
    ['edge/main.ts', 'edge/engine/main.ts'],
    ['edge/main.ts', 'control/app.ts'],
    ['control/calls/store.ts', 'edge/call/call.ts'],
    ['console/api/client.ts', 'control/http/index.ts'],
    ['clients/typescript/src/client.ts', 'shared/errors.ts'],
    ['control/console/bundle.ts', 'console/router.ts'],
  ];
  for (const [from, to] of refused)
    expect({ from, to, allowed: isAllowed({ from, to }) }).toMatchObject({ allowed: false });
});

test('imports stay within the project', () => {
  const outside = imports.filter(({ to }) => relative('.', to).startsWith('..') || to.startsWith('test/'));
  expect(outside).toEqual([]);
});

/** The area of a file of control; null for the programs at its root, which connect the areas. */
function areaOf(file: string): string | null {
  return /^control\/([^/]+)\//.exec(file)?.[1] ?? null;
}

/** The layer of each area by name; 0 is the lowest. */
function drawnLayers(): ReadonlyMap<string, number> {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const rows = page.matchAll(/^\| (\d) [^|]*\| ([^|]+) \|/gm);
  return new Map(
    [...rows].flatMap(([, layer, areas = '']) =>
      [...areas.matchAll(/`([a-z-]+)`/g)].map(([, area = '']): [string, number] => [area, Number(layer)]),
    ),
  );
}

/** The first cycle of a graph, as a path; null: there is none. */
function circleIn(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>();
  const follow = (from: string, way: readonly string[]): string[] | null => {
    const seen = way.indexOf(from);
    if (seen >= 0) return [...way.slice(seen), from];
    if (done.has(from)) return null;
    for (const to of arrows.get(from) ?? []) {
      const circle = follow(to, [...way, from]);
      if (circle) return circle;
    }
    done.add(from);
    return null;
  };
  for (const from of arrows.keys()) {
    const circle = follow(from, []);
    if (circle) return circle;
  }
  return null;
}

/** Imports between the folders directly below `folder`. */
function arrowsBelow(folder: string): Map<string, Set<string>> {
  const child = (file: string) =>
    file.startsWith(`${folder}/`) ? (/^([^/]+)\//.exec(file.slice(folder.length + 1))?.[1] ?? null) : null;
  const arrows = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [one, other] = [child(from), child(to)];
    if (one === null || other === null || one === other) continue;
    arrows.set(one, (arrows.get(one) ?? new Set()).add(other));
  }
  return arrows;
}

test.each([
  ['sqlite', /from '(better-sqlite3|kysely-\w+)'/],
  ['postgres', /from 'pg'/],
])('only control/db/%s imports its driver', (folder, driver) => {
  const control = files.filter((file) => file.startsWith('control/'));
  const using = control.filter((file) => driver.test(readFileSync(join(root, file), 'utf8')));
  expect(using.length).toBeGreaterThan(0);
  expect(using.filter((file) => !file.startsWith(`control/db/${folder}/`))).toEqual([]);
});

test('areas of control import only the index.ts of other areas', () => {
  const behind = imports.filter(({ from, to }) => {
    const area = areaOf(to);
    return (
      from.startsWith('control/') &&
      area !== null &&
      area !== areaOf(from) &&
      to !== `control/${area}/index.ts`
    );
  });
  expect(behind.map(({ from, to }) => `${from} bypasses index.ts for ${to}`)).toEqual([]);
});

test('no area imports the programs that connect areas, nor its own index.ts', () => {
  const wrong = imports.filter(({ from, to }) => {
    const area = areaOf(from);
    if (area === null || !to.startsWith('control/')) return false;
    return areaOf(to) === null || to === `control/${area}/index.ts`;
  });
  expect(wrong.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([]);
});

test('every area is in the layer table, and imports only its own layer and lower ones', () => {
  const layers = drawnLayers();
  const areas = new Set(files.map(areaOf).filter((area) => area !== null));
  expect([...layers.keys()].sort()).toEqual([...areas].sort());
  const upward = [...arrowsBelow('control')].flatMap(([from, all]) =>
    [...all].filter((to) => (layers.get(to) ?? 0) > (layers.get(from) ?? 0)).map((to) => `${from} -> ${to}`),
  );
  expect(upward).toEqual([]);
});

test('there is no import cycle between files, not even of types', () => {
  const arrows = new Map(files.map((file): [string, Set<string>] => [file, new Set()]));
  for (const { from, to } of imports) if (arrows.has(to)) arrows.get(from)?.add(to);
  expect(circleIn(arrows)?.join(' -> ') ?? null).toBeNull();
});

test('there is no import cycle between folders', () => {
  const folders = new Set(files.map(dirname));
  const parents = [...new Set([...folders].flatMap((folder) => [folder, dirname(folder)]))];
  const circles = parents.flatMap((folder) => circleIn(arrowsBelow(folder))?.join(' -> ') ?? []);
  expect(circles).toEqual([]);
  expect(
    circleIn(
      new Map([
        ['a', new Set(['b'])],
        ['b', new Set(['c'])],
        ['c', new Set(['b'])],
      ]),
    ),
  ).toEqual(['b', 'c', 'b']);
});
