/** The names that documents show, of settings, metrics, codes and events, are names that the programs have. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { webhookEvents } from '#shared/api/webhook-events.ts';
import { edgeMetrics } from '#shared/edge-metrics.ts';
import { formerSettings } from '#shared/settings/former.ts';
import { eventTypes } from '../control/events/types.ts';
import { controlMetrics } from '../scripts/metrics-page.ts';

const root = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const filesOf = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name));

/** Without the changelog, which names what there was. */
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  ...['deploy', 'clients', 'docs'].flatMap((folder) => filesOf(folder, /\.md$/)),
];

/** Places of names that are not known. */
function unknown(names: (text: string) => readonly string[], isKnown: (name: string) => boolean): string[] {
  const found = pages.flatMap((page) =>
    names(read(page))
      .filter((name) => !isKnown(name))
      .map((name) => `${page}: ${name}`),
  );
  return [...new Set(found)];
}

const capitals = /(?<![\w$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)/g;
const capitalsIn = (text: string) => [...text.matchAll(capitals)].map(([name]) => name);

/** Of OpenTelemetry and OpenSSL, and of a reader's own program. */
const foreign = [
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'SIGNING_SECRET',
  'SSL_ERROR_SSL',
];

test('names in capitals, as of settings and codes, are in the code', () => {
  const folders = [
    'shared',
    'outgoing',
    'edge',
    'control',
    'clients',
    'console',
    'scripts',
    'deploy',
    'test',
  ];
  const code = folders.flatMap((folder) => filesOf(folder, /\.(?:ts|tsx|mjs|xml|env|cfg)$|Containerfile$/));
  const here = import.meta.filename.slice(root.length + 1);
  const known = new Set([
    ...code.filter((name) => name !== here).flatMap((name) => capitalsIn(read(name))),
    ...Object.keys(formerSettings),
    ...foreign,
  ]);
  expect(unknown(capitalsIn, (name) => known.has(name))).toEqual([]);
});

test('metrics are ones of the programs, or the beginning of their names', async () => {
  const all = [...edgeMetrics.keys()];
  for (const { name, type } of await controlMetrics()) {
    all.push(name);
    if (type === 'histogram') all.push(...['_sum', '_count', '_bucket'].map((ending) => name + ending));
  }
  const named = (text: string) =>
    [...text.matchAll(/\btrunkline_(?:edge|engine|control)_\w+/g)].map(([name]) => name);
  const beginning = (name: string) => `${name.replace(/_$/, '')}_`;
  const isKnown = (name: string) => all.some((one) => one === name || one.startsWith(beginning(name)));
  expect(pages.flatMap((page) => named(read(page))).length).toBeGreaterThan(200);
  expect(unknown(named, isKnown)).toEqual([]);
});

test('events are ones of the stream or of webhooks', () => {
  const known = new Set<string>([...eventTypes, ...Object.keys(webhookEvents)]);
  // Fields of answers and of bootstrap.json.
  const fields = ['registration.state', 'sip.ca_cert', 'sip.wss_url'];
  const families = new Set([...known].map((type) => type.split('.')[0] ?? ''));
  const named = (text: string) =>
    [...text.matchAll(/`([a-z_]+)\.[a-z_.]+`/g)]
      .filter(([, family = '']) => families.has(family))
      .map(([code]) => code.slice(1, -1))
      .filter((name) => !fields.includes(name) && !/\.ts$|\.example\./.test(name));
  expect(pages.flatMap((page) => named(read(page))).length).toBeGreaterThan(60);
  expect(unknown(named, (name) => known.has(name))).toEqual([]);

  // What a reader asks for: types, or the beginning of their names.
  const asked = (text: string) =>
    [...text.matchAll(/\btypes(?:=|: \[(?='))([\w., ']+)/g)]
      .flatMap(([, list = '']) => list.split(','))
      .map((name) => name.replaceAll(/[ ']/g, ''));
  expect(pages.flatMap((page) => asked(read(page))).length).toBeGreaterThan(5);
  const isAsked = (name: string) => eventTypes.some((type) => type === name || type.startsWith(`${name}.`));
  expect(unknown(asked, isAsked)).toEqual([]);
});

test.each([
  ['docs/widgets.md', 'control/widgets/event-stream.ts'],
  ['docs/contract/06-agent-testing.md', 'control/testing/runs/events.ts'],
])('%s has the events of the stream that %s writes, and no other', (page, file) => {
  const [, table = ''] = read(page).split('\n| Event | Data |\n');
  const shown = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const sent = [...read(file).matchAll(/\byield event\('(\w+)'/g)].map(([, name]) => name);
  expect(sent.length).toBeGreaterThan(2);
  expect(shown.sort()).toEqual([...new Set(sent)].sort());
});
