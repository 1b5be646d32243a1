/** The form of the console has what the contract gives to nodes. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { leaves, more, ofType, speaks } from '../console/screens/pathways/fields.ts';
import { pathways } from '../console/text/pathways.ts';

const page = readFileSync(join(dirname(import.meta.dirname), 'docs/contract/11-pathways.md'), 'utf8');
const tables = page.slice(page.indexOf('## 11.1'), page.indexOf('- A node is'));
const fields = [...speaks, ...leaves, ...more, ...Object.values(ofType).flat()];

/** Names at the beginning of code, such as `tools[]` and `responseData: [{ … }]`. */
function keysOf(text: string): string[] {
  return [...text.matchAll(/`([a-z][a-zA-Z]+)(?=[`[:])/g)].map(([, key = '']) => key);
}

it('has a field for every key of a node', () => {
  // The mark of the start is a button: one node has it.
  const own = new Set([...fields.map(({ path }) => String(path[0])), 'isStart']);
  const [ofTypes = '', ofAll = ''] = tables.split('| Key of every `data` |');
  const named = [
    ...[...ofTypes.matchAll(/^\| `[A-Z][^|]*\|[^|]*\|(.*)\|$/gm)].flatMap(([, cell = '']) => keysOf(cell)),
    ...[...ofAll.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => keysOf(cell)),
  ].filter((key) => !values.has(key));
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter((key) => !own.has(key))).toEqual([]);
});

/** Values of keys, which the contract writes as it writes keys. */
const values = new Set(['bridge', 'refer', 'production', 'staging']);

it('has a name for every field', () => {
  expect(fields.map(({ path }) => path.join('.')).filter((name) => !(name in pathways.form.fields))).toEqual(
    [],
  );
});
