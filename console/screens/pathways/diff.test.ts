import { expect, it } from 'vitest';
import { differences } from './diff.ts';

const node = (id: string, data: object, position?: object) => ({
  id,
  type: 'Default',
  data,
  ...(position && { position }),
});
const edge = (source: string, target: string, label: string) => ({ source, target, label, data: { label } });
const before = {
  nodes: [node('a', { text: 'Hello', dtmf: { maxDigits: 1 } }, { x: 0, y: 0 }), node('b', {})],
  edges: [edge('a', 'b', 'yes'), edge('a', 'b', 'no')],
};

it('finds nothing in graphs that differ only in places and in the order of keys', () => {
  const [a, b] = before.nodes;
  const moved = {
    ...before,
    nodes: [{ data: a?.data, ...a, position: { x: 9, y: 9 } }, b ?? {}],
  };
  expect(differences(before, moved)).toEqual([]);
  const [first] = before.edges;
  // As a page sends it: the API adds the other label.
  const sent = {
    ...before,
    edges: [{ data: first?.data, source: 'a', target: 'b' }, ...before.edges.slice(1)],
  };
  expect(differences(before, sent)).toEqual([]);
});

it('names what was added, removed and changed, with both values of each field', () => {
  const after = {
    nodes: [node('a', { text: 'Bye', dtmf: { maxDigits: 1, timeoutMs: 500 } }), node('c', { name: 'New' })],
    edges: [edge('a', 'c', 'yes')],
  };
  const found = differences(before, after);
  expect(found.map(({ kind, what, name }) => `${kind} ${what} ${name}`)).toEqual([
    'changed node Bye',
    'added node New',
    'removed node b',
    'added edge Bye → New: yes',
    'removed edge Bye → b: yes',
    'removed edge Bye → b: no',
  ]);
  expect(found[0]?.changes).toEqual([
    { field: 'data.text', before: 'Hello', after: 'Bye' },
    { field: 'data.dtmf.timeoutMs', before: undefined, after: 500 },
  ]);
});

it('sees that the label of one of two edges changed, and the settings of all nodes', () => {
  const after = {
    nodes: [...before.nodes, { globalConfig: { globalPrompt: 'Be kind' } }],
    edges: [edge('a', 'b', 'yes'), edge('a', 'b', 'never')],
  };
  expect(differences(before, after)).toMatchObject([
    { kind: 'changed', what: 'edge', changes: [{ field: 'data.label', before: 'no', after: 'never' }] },
    { kind: 'changed', what: 'all', changes: [{ before: undefined, after: { globalPrompt: 'Be kind' } }] },
  ]);
});
