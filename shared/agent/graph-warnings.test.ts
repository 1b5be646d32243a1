import { expect, it } from 'vitest';
import { GraphError } from './graph.ts';
import { graphWarnings } from './graph-warnings.ts';

const node = (id: string, type = 'Default', data: object = {}) => ({ id, type, data });
const edge = (source: string, target: string) => ({ source, target, data: { label: 'x' } });
const start = node('a', 'Default', { isStart: true });

it('reports unreachable nodes with their index among the members', () => {
  const nodes = [{ globalConfig: { globalPrompt: 'x' } }, start, node('b'), node('c'), node('d')];
  expect(graphWarnings(nodes, [edge('a', 'b'), edge('c', 'd'), edge('d', 'c')])).toEqual([
    { path: '/nodes/3', rule: 'unreachable_node', message: '"c" cannot be reached from the start node' },
    { path: '/nodes/4', rule: 'unreachable_node', message: '"d" cannot be reached from the start node' },
  ]);
});

it('follows global nodes and the response of webhooks', () => {
  const responsePathways = [
    ['ok', '==', 'true', { id: 'c', name: 'C' }],
    ['ok', '==', 'false', { id: 'gone', name: 'Gone' }],
    'nonsense',
  ];
  const nodes = [
    start,
    node('hook', 'Webhook', { isGlobal: true, globalLabel: 'price', responsePathways }),
    node('c'),
    node('d', 'End Call'),
  ];
  expect(graphWarnings(nodes, [edge('c', 'd')])).toEqual([
    {
      path: '/nodes/1/data/responsePathways/1/3/id',
      rule: 'response_pathway',
      message: 'no node has the id "gone"',
    },
  ]);
});

it('requires a valid graph', () => {
  expect(graphWarnings([start], [])).toEqual([]);
  expect(() => graphWarnings([node('a')], [])).toThrow(GraphError);
});

it('reports values whose names are built in, because nothing stores them', () => {
  const nodes = [
    node('a', 'Default', {
      isStart: true,
      extractVars: [
        ['city', 'string', ''],
        ['phone_number', 'string', ''],
      ],
    }),
  ];
  expect(graphWarnings(nodes, [])).toEqual([
    {
      path: '/nodes/0/data/extractVars/1/0',
      rule: 'built_in_variable',
      message: '"phone_number" is a built-in variable, so no value is stored; use another name',
    },
  ]);
});
