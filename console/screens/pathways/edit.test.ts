import { expect, it } from 'vitest';
import { validateGraph } from '#shared/agent/graph.ts';
import { addEdge, addNode, removeNode, setEdge, setGlobal, setNode, setStart } from './edit.ts';
import { leaves, ofType } from './fields.ts';
import { placesOf } from './layout.ts';
import { findingsOf, placeOf } from './problems.ts';

const graph = {
  nodes: [
    { id: 'a', type: 'Default', data: { isStart: true, text: 'Hello', own: 1 }, extra: true },
    { id: 'b', type: 'End Call', data: { dtmf: { maxDigits: 2 } } },
  ],
  edges: [{ id: 'e', source: 'a', target: 'b', label: 'old', data: { label: 'old', own: 1 } }],
};

it('changes one key, and keeps every other one', () => {
  const changed = setNode(graph, 0, ['data', 'text'], 'Bye');
  expect(changed.nodes[0]).toEqual({
    id: 'a',
    type: 'Default',
    data: { isStart: true, text: 'Bye', own: 1 },
    extra: true,
  });
  expect(changed.nodes[1]).toBe(graph.nodes[1]);
  expect(setNode(graph, 1, ['data', 'dtmf', 'maxDigits'], undefined).nodes[1]).toEqual({
    id: 'b',
    type: 'End Call',
    data: {},
  });
});

it('writes the label of an edge where the API reads it first, and where it shows it', () => {
  expect(setEdge(graph, 0, ['data', 'label'], 'new').edges).toEqual([
    { id: 'e', source: 'a', target: 'b', label: 'new', data: { label: 'new', own: 1 } },
  ]);
});

it('has one start, and settings of all nodes in a member of their own', () => {
  const moved = setStart(graph, 1);
  expect(moved.nodes.map(({ data }) => data)).toEqual([
    { text: 'Hello', own: 1 },
    { dtmf: { maxDigits: 2 }, isStart: true },
  ]);
  const all = setGlobal(graph, ['globalPrompt'], 'Be kind');
  expect(all.nodes.at(-1)).toEqual({ globalConfig: { globalPrompt: 'Be kind' } });
  expect(setGlobal(all, ['globalPrompt'], 'Be brief').nodes).toHaveLength(3);
});

it('adds a node beside none, with an edge from the one above, and removes it with its edges', () => {
  const { graph: larger, id } = addNode(graph, placesOf(graph), 'Webhook', 'a');
  expect(larger.edges.at(-1)).toMatchObject({ source: 'a', target: id });
  const places = [...placesOf(larger).values()].map(({ x, y }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(3);
  const smaller = removeNode(addEdge(larger, id, 'b'), id);
  expect(smaller.edges).toEqual(graph.edges);
  expect(smaller.nodes.map((one) => one.id)).toEqual(['a', 'b']);
});

it('says what breaks a rule of the API, and at which node', () => {
  const broken = setNode(graph, 1, ['data', 'isGlobal'], true);
  const [finding] = findingsOf(broken);
  expect(finding).toMatchObject({ path: '/nodes/1/data/globalLabel', isWarning: false });
  expect(finding && placeOf(broken, finding)).toEqual({ kind: 'node', id: 'b' });
  const lonely = { ...graph, edges: [] };
  expect(findingsOf(lonely)).toMatchObject([{ path: '/nodes/1', isWarning: true }]);
  expect(findingsOf(graph)).toEqual([]);
});

it('begins a new row with what can be filled in', () => {
  for (const field of [...leaves, ...Object.values(ofType).flat()]) {
    if (field.kind !== 'rows' || field.path[0] !== 'extractVars') continue;
    const filled = setNode(graph, 0, ['data', 'extractVars'], [field.blank]);
    const named = setNode(filled, 0, ['data', 'extractVars', 0, 0], 'order');
    expect(validateGraph(named.nodes, named.edges)).toEqual([]);
  }
});
