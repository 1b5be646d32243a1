/** What the main thread of the edge loads at its start: neither agents nor codecs nor mediasoup, which are in media shards. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);

/** Static imports and re-exports of a file that load something: project files as paths, packages by name. */
function loadedBy(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:([^'";]*?)\sfrom\s+)?'([^']+)'/gms);
  return [...statements].flatMap(([, what = '', name = '']) => {
    if (name.startsWith('node:') || onlyTypes(what)) return [];
    if (name.startsWith('#')) return [name.slice(1)];
    return [name.startsWith('.') ? normalize(join(dirname(file), name)) : name];
  });
}

function onlyTypes(what: string): boolean {
  const names = /^\{(.*)\}$/s
    .exec(what.trim())?.[1]
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names?.every((name) => name.startsWith('type ')) ?? false;
}

/** Everything that is loaded with a file. */
function loadedWith(file: string): ReadonlySet<string> {
  const all = new Set([file]);
  for (const one of all) if (one.endsWith('.ts')) for (const next of loadedBy(one)) all.add(next);
  return all;
}

const ofShards = ['edge/agent/agents.ts', 'edge/media/media.ts', 'mediasoup'];
const withSettings = ['shared/models/models.ts', 'edge/start/transcription.ts', 'typebox', 'typebox/value'];

test('a media shard loads agents and media, and what only some settings need with these settings', () => {
  const loaded = loadedWith('edge/start/shard-program.ts');
  expect(ofShards.filter((one) => !loaded.has(one))).toEqual([]);
  expect(withSettings.filter((one) => loaded.has(one))).toEqual([]);
});

test('the main thread does not: it loads them for the first call of a test', () => {
  const loaded = loadedWith('edge/program.ts');
  expect(loaded.has('edge/edge.ts')).toBe(true);
  expect([...ofShards, 'shared/models/models.ts'].filter((one) => loaded.has(one))).toEqual([]);
});
