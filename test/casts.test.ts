/** No value is cast through `unknown` to a type that nothing has checked. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
const folders = ['shared', 'outgoing', 'edge', 'control', 'clients', 'console', 'scripts', 'test'];
const doubleCast = /\bas\s+(?:unknown|never|any)\s+as\b/g;

const linesOf = (text: string) =>
  [...text.matchAll(doubleCast)].map(({ index }) => text.slice(0, index).split('\n').length);

test('no expression is cast twice', () => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(folder, file)),
  );
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap((file) =>
    linesOf(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`),
  );
  expect(found, 'read bodies by a schema (test/kit/http/answer.ts), narrow other values by a check').toEqual(
    [],
  );
});

test('a double cast is recognized on one line and on two', () => {
  const cast = (kind: string) => `const one = (two as ${kind}\n  as Three);`;
  expect(linesOf(`\n${cast('unknown')}`)).toEqual([2]);
  expect(linesOf(cast('never').replace('\n ', ''))).toEqual([1]);
  expect(linesOf('const one: unknown = two as Three;')).toEqual([]);
});
