/** docs/metrics.md is that of the metrics of both programs, and the table of the edge's has all that the code counts. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { edgeMetrics } from '#shared/edge-metrics.ts';
import { processMetrics } from '#shared/process-metrics.ts';
import { metricsPage } from '../scripts/metrics-page.ts';

const root = dirname(import.meta.dirname);

/** The code of a folder, without its tests. */
function codeOf(folder: string): string {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)\.ts$/.test(file))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'))
    .join('\n');
}

const edge = codeOf('edge');
const engine = codeOf('edge/engine');
const processNames = Object.keys(processMetrics()).join(' ');

test('the page of metrics is that of the code; node scripts/metrics-page.ts writes it', async () => {
  expect(readFileSync(join(root, 'docs', 'metrics.md'), 'utf8')).toBe(await metricsPage());
});

test('the table has every metric that the edge names', () => {
  // Beginnings of names have their rest in templates.
  const beginnings = ['trunkline_edge_', 'trunkline_edge_text_to_speech', 'trunkline_edge_transcription'];
  const named = new Set([...edge.matchAll(/trunkline_edge_[a-z_]*/g)].map(([name]) => name));
  const missing = [...named].filter((name) => !edgeMetrics.has(name) && !beginnings.includes(name));
  expect(missing).toEqual([]);
});

test('the table has every metric that the engine counts', () => {
  const counted = [...engine.matchAll(/metrics\.count\(([^)]*)\)/g)].flatMap(([, given = '']) =>
    [...given.matchAll(/'([a-z_]+)'/g)].map(([, name = '']) => name),
  );
  const stats = readFileSync(join(root, 'edge/engine/transport/stats.ts'), 'utf8');
  const transport = [...stats.matchAll(/readonly (\w+): number/g)].map(([, name]) => `transport_${name}`);
  const processes = Object.keys(processMetrics());
  const all = [...counted, ...transport, ...processes].map((name) => `trunkline_engine_${name}`);
  expect(counted.length).toBeGreaterThan(20);
  expect(transport.length).toBeGreaterThan(20);
  expect(all.filter((name) => !edgeMetrics.has(name))).toEqual([]);
});

test('the table has no metric that no code has', () => {
  const words = edge + codeOf('shared/models') + processNames;
  const gone = [...edgeMetrics.keys()].filter((name) => {
    const short = name.replace(/^trunkline_(?:edge|engine)_(?:transport_)?/, '');
    const parts = [short, short.replace(/^(?:text_to_speech|transcription)_/, '')].flatMap((part) => [
      part,
      part.replace(/_(?:total|ms_sum|ms_count)$/, ''),
    ]);
    return !parts.some((part) => new RegExp(`(?<![a-z])${part}(?![a-z])`).test(words));
  });
  expect(gone).toEqual([]);
});

test('each row is a sentence', () => {
  for (const [name, { help }] of edgeMetrics) expect(help, name).toMatch(/^[A-Z0-9].+\.$/);
});
