import { describe, expect, it } from 'vitest';
import { judgeHost, parseNetworks } from '#shared/outgoing-targets.ts';
import { GraphError, loadGraph, validateGraph } from './graph.ts';

const start = { id: 'a', type: 'Default', data: { isStart: true, text: 'Hi' } };
const end = { id: 'b', type: 'End Call', data: { text: 'Bye' } };

const findings = (nodes: unknown, edges: unknown = []) =>
  validateGraph(nodes, edges).map(({ path, rule }) => `${path} ${rule}`);

describe('validateGraph', () => {
  it('accepts the smallest graph, unknown keys, and the member with the global prompt', () => {
    expect(findings([start])).toEqual([]);
    expect(
      findings([
        { ...start, position: { x: 1 }, colour: 'red' },
        { globalConfig: { globalPrompt: 'Be kind' }, position: {} },
      ]),
    ).toEqual([]);
  });

  it.each<[string, unknown, unknown, string[]]>([
    ['nodes that are not a list', {}, [], ['/nodes array']],
    ['edges that are not a list', [start], null, ['/edges array']],
    ['no node', [], [], ['/nodes size', '/nodes one_start']],
    ['a node that is not an object', [start, 1], [], ['/nodes/1 object']],
    ['an id used twice', [start, { ...end, id: 'a' }], [], ['/nodes/1/id unique_node_id']],
    ['an empty id', [start, { ...end, id: '' }], [], ['/nodes/1/id node_id']],
    ['an id of 129 characters', [start, { ...end, id: 'x'.repeat(129) }], [], ['/nodes/1/id node_id']],
    ['an unknown type', [start, { ...end, type: 'Dance' }], [], ['/nodes/1/type node_type']],
    ['a node without data', [start, { id: 'b', type: 'End Call' }], [], ['/nodes/1/data object']],
    ['no start', [end], [], ['/nodes one_start']],
    ['two starts', [start, { ...end, data: { isStart: true } }], [], ['/nodes/1/data/isStart one_start']],
    [
      'a start that is not a boolean',
      [start, { ...end, data: { isStart: 'yes' } }],
      [],
      ['/nodes/1/data/isStart value'],
    ],
    [
      'a global node without a label',
      [start, { ...end, data: { isGlobal: true } }],
      [],
      ['/nodes/1/data/globalLabel global_label'],
    ],
    [
      'pronunciations that are no list',
      [start, { globalConfig: { pronunciations: 'x' } }],
      [],
      ['/nodes/1/globalConfig/pronunciations array'],
    ],
    [
      'a wrong entry of the pronunciations',
      [start, { globalConfig: { pronunciations: [{ text: 'a', say: 'b' }, { text: 'a' }, 5] } }],
      [],
      ['/nodes/1/globalConfig/pronunciations/1 value', '/nodes/1/globalConfig/pronunciations/2 value'],
    ],
    [
      'two global prompts',
      [start, { globalConfig: {} }, { globalConfig: {} }],
      [],
      ['/nodes/2 one_global_config'],
    ],
    [
      'a filler without a text, and one that comes too late',
      [
        start,
        { id: 'b', type: 'Webhook', data: { filler: {} } },
        { id: 'c', type: 'Webhook', data: { filler: { text: 'Wait', afterMs: 30_001 } } },
      ],
      [],
      ['/nodes/1/data/filler/text value', '/nodes/2/data/filler/afterMs value'],
    ],
    ['text that is not a string', [start, { ...end, data: { text: 5 } }], [], ['/nodes/1/data/text value']],
    [
      'a bad variable',
      [
        start,
        {
          ...end,
          data: {
            extractVars: [
              ['x', 'integer', ''],
              ['y', 'colour', ''],
            ],
          },
        },
      ],
      [],
      ['/nodes/1/data/extractVars/1 extract_vars'],
    ],
    [
      'bad key settings',
      [start, { ...end, data: { dtmf: { maxDigits: 0, terminator: '##', timeoutMs: 5 } } }],
      [],
      [
        '/nodes/1/data/dtmf/maxDigits value',
        '/nodes/1/data/dtmf/timeoutMs value',
        '/nodes/1/data/dtmf/terminator value',
      ],
    ],
    [
      'an edge to nowhere',
      [start],
      [{ source: 'a', target: 'z' }, { target: 'a' }],
      ['/edges/0/target edge_node', '/edges/1/source edge_node'],
    ],
    ['an edge that is not an object', [start], [7], ['/edges/0 object']],
    [
      '501 nodes',
      [start, ...Array.from({ length: 500 }, (_, i) => ({ ...end, id: `n${i}` }))],
      [],
      ['/nodes size'],
    ],
  ])('reports %s', (_what, nodes, edges, expected) => {
    expect(findings(nodes, edges)).toEqual(expected);
  });

  it('checks literal URLs of webhooks, but not those with a template in the host', () => {
    const webhook = (url: string) => ({ id: 'w', type: 'Webhook', data: { url } });
    const refuseUrl = (url: URL) => {
      const verdict = judgeHost(url.hostname, parseNetworks([]));
      return verdict.allowed ? null : verdict.reason;
    };
    const rules = (url: string) =>
      validateGraph([start, webhook(url)], [], { refuseUrl }).map(({ rule }) => rule);
    expect(rules('https://10.0.0.1/{{id}}')).toEqual(['target_not_allowed']);
    expect(rules('ftp://example.com/')).toEqual(['value']);
    expect(rules('https://api.example.com/x')).toEqual([]);
    expect(rules('https://{{host}}/x')).toEqual([]);
  });
});

describe('loadGraph', () => {
  it('reads labels from data.label, else label, else data.name', () => {
    const edges = [
      { source: 'a', target: 'b', label: 'top', data: { label: 'inner', name: 'name' } },
      { source: 'a', target: 'b', label: 'top', data: { name: 'name' } },
      { source: 'a', target: 'b', data: { name: 'name', description: 'about' } },
      { id: 'e4', source: 'a', target: 'b' },
    ];
    const graph = loadGraph([start, end], edges);
    expect(graph.edgesFrom.get('a')?.map(({ id, label, description }) => [id, label, description])).toEqual([
      ['0', 'inner', ''],
      ['1', 'top', ''],
      ['2', 'name', 'about'],
      ['e4', '', ''],
    ]);
  });

  it('names a node by its id when it has no name', () => {
    expect(loadGraph([start], []).start.name).toBe('a');
  });

  it('throws with all problems', () => {
    const load = () => loadGraph([start], [{ source: 'a', target: 'q' }]);
    expect(load).toThrow(GraphError);
    expect(load).toThrow('The pathway graph is invalid: /edges/0/target: no node has the id "q"');
  });
});
