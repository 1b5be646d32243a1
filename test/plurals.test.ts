/** Messages use correct plurals: a number that can be 1 goes through `counted`. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { counted } from '#shared/counted.ts';

const root = dirname(import.meta.dirname);

test.each([
  [0, '0 files'],
  [1, '1 file'],
  [2, '2 files'],
])('%d', (count, said) => {
  expect(counted(count, 'file')).toBe(said);
  expect(counted(count, 'entry', 'entries')).toBe(count === 1 ? '1 entry' : `${count} entries`);
});

/** Expressions before a plural that are never 1, and why. */
const never1: Readonly<Record<string, string>> = {
  times: 'a detector of circles, from two on; attempts in a row, from five on',
  failures: 'attempts in a row, from five on',
  'repeats + 1': 'more than one try',
  'ids.length': 'more than a batch takes',
  'given.length': 'more than once',
  window_minutes: 'at least 5',
  total: 'a message larger than the limit',
  bytes: 'a frame larger than the limit',
  queued: 'more than the limit',
  'this.#socket.writableLength': 'more than the limit',
  length: 'more than the limit',
  size: 'more than the limit',
  count: 'more words than a concise answer has',
  'text.length': 'a text that is too long for its pattern',
  'plain.length': 'a text that is too long',
  moves: 'a constant',
  runs: 'more runs than a set may have',
  peerTargetsPerNetwork: 'a constant',
  answerBytes: 'a constant',
  conciseWords: 'a constant',
  'transport.maxResponseBytes': 'octets, at least thousands',
  'this.#maxBytes': 'octets, at least thousands',
  'this.#maxCharacters': 'characters, at least hundreds',
  max: 'octets, at least thousands',
  most: 'at least 2: what a schema allows in a list',
  'node_ids.length': 'one node has a sentence of its own',
};
const plural =
  /\$\{([^{}`]+)\} (?:files|rows|tests|runs|calls|edges|numbers|days|keys|documents|records|lines|scenarios|reports|times|words|entries|minutes|hours|seconds|messages|nodes|requests|connections|characters|octets|bytes|versions|attempts|items|failures|errors|turns|event streams|levels|instructions|packages|patches)\b/g;

test('no message has a plural after a number that can be 1', () => {
  const files = ['shared', 'outgoing', 'edge', 'control', 'scripts'].flatMap((area) =>
    readdirSync(join(root, area), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|mjs)$/.test(name) && !name.endsWith('.test.ts'))
      .map((name) => `${area}/${name}`),
  );
  const found = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(plural)]
      .filter(([, expression = '']) => !/^(?:most|max)[A-Z]\w*$/.test(expression) && !(expression in never1))
      .map(([text]) => `${file}: ${text}`),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});
