import { describe, expect, it } from 'vitest';
import {
  type Edge,
  ended,
  graphOf,
  heard,
  keys,
  menu,
  type Node,
  run,
  talk,
  webhook,
} from '../../test/kit/agent/conversations.ts';
import type { ConversationEvent } from './conversation.ts';

describe('node types', () => {
  it('Wait for Response listens without speaking', async () => {
    expect(
      await run(
        talk(
          [
            ['w', 'Wait for Response', { text: 'unsaid' }],
            ['e', 'End Call'],
          ],
          [['w', 'e', 'any']],
        ),
        heard('hi'),
      ),
    ).toEqual([['listen at w'], [ended]]);
  });

  it('Knowledge Base answers, stays, and leaves when an edge matches', async () => {
    const kb = 'We open at nine. Returns take two weeks.';
    const nodes: Node[] = [
      ['kb', 'Knowledge Base', { text: 'Ask me.', kb }],
      ['bye', 'End Call', { text: 'Bye.' }],
    ];
    const steps = await run(
      talk(nodes, [
        ['kb', 'bye', 'goodbye'],
        ['kb', 'bye', 'press 9'],
      ]),
      heard('how long does a return take?'),
      heard('goodbye'),
    );
    expect(steps).toEqual([
      ['say Ask me.', 'listen at kb'],
      ['say Returns take two weeks.', 'listen at kb'],
      ['say Bye.', ended],
    ]);
  });

  it('Press Button sends its keys and continues', async () => {
    const nodes: Node[] = [
      ['p', 'Press Button', { digits: '1{{n}}#' }],
      ['e', 'End Call', { text: 'Done.' }],
    ];
    expect(await run(talk(nodes, [['p', 'e', 'sent']], { variables: { n: 5 } }))).toEqual([
      ['press 15#', 'say Done.', ended],
    ]);
  });

  it('Transfer Call ends the conversation, or follows its failure edge', async () => {
    const nodes: Node[] = [
      ['t', 'Transfer Call', { text: 'Wait.', transferNumber: '+1415{{x}}', transferMethod: 'refer' }],
      ['e', 'End Call', { text: 'Sorry.' }],
    ];
    const options = { variables: { x: '5550199' } };
    const result = (ok: boolean): ConversationEvent => ({ type: 'transfer', ok, reason: 'busy' });
    const first = ['say Wait.', 'transfer to +14155550199 by refer'];
    expect(await run(talk(nodes, [['t', 'e', 'failed']], options), result(true))).toEqual([
      first,
      ['end: the call was transferred'],
    ]);
    expect(await run(talk(nodes, [['t', 'e', 'failed']], options), result(false))).toEqual([
      first,
      ['say Sorry.', ended],
    ]);
    expect(await run(talk(nodes, [['t', 'e', 'after']], options), result(false))).toEqual([
      first,
      ['end: busy'],
    ]);
  });

  it('Transfer Pathway continues in the other graph, with the variables', async () => {
    const other = { pathwayId: 'q', graph: graphOf([['a', 'End Call', { text: 'Other {{n}}.' }]], []) };
    const nodes: Node[] = [['t', 'Transfer Pathway', { transferPathwayId: 'q', transferPathwayVersion: 3 }]];
    const asked: unknown[] = [];
    const conversation = talk(nodes, [], {
      variables: { n: 1 },
      otherPathway: (id, version) => {
        asked.push([id, version]);
        return id === 'q' ? other : undefined;
      },
    });
    expect(await run(conversation)).toEqual([['say Other 1.', ended]]);
    expect(asked).toEqual([['q', 3]]);
    expect(conversation.visits.map(({ pathwayId, nodeId }) => `${pathwayId}/${nodeId}`)).toEqual([
      'p/t',
      'q/a',
    ]);
    expect(await run(talk(nodes, []))).toEqual([['end: the pathway to continue in is not available']]);
  });

  it('a global node is reached from everywhere and returns to the interrupted node', async () => {
    const nodes: Node[] = [
      ...menu.slice(0, 2),
      ['hours', 'Default', { text: 'Nine to five.', isGlobal: true, globalLabel: 'opening hours, press 9' }],
    ];
    const conversation = talk(nodes, [['menu', 'bills', 'press 1 for bills']]);
    const back = ['say Nine to five.', 'say Menu.', 'listen at menu'];
    expect((await run(conversation, keys('9'), heard('your hours?'), keys('1'))).slice(1)).toEqual([
      back,
      back,
      ['say Bills.', ended],
    ]);
    expect(conversation.visits.map(({ nodeId }) => nodeId)).toEqual([
      'menu',
      'hours',
      'menu',
      'hours',
      'menu',
      'bills',
    ]);
  });

  it('a loop in the graph is stopped', async () => {
    const nodes: Node[] = [
      ['a', 'Press Button', { digits: '1' }],
      ['b', 'Press Button', { digits: '2' }],
    ];
    const [actions] = await run(
      talk(nodes, [
        ['a', 'b', 'x'],
        ['b', 'a', 'x'],
      ]),
    );
    expect(actions?.length).toBe(51);
    expect(actions?.at(-1)).toBe('end: 50 nodes were passed without waiting for input: the graph has a loop');
  });
});

describe('a Webhook node', () => {
  const nodes: Node[] = [
    [
      'w',
      'Webhook',
      {
        text: 'One moment.',
        url: 'https://api.example.com/orders/{{id}}/{{list.0.part}}?q={{q}}',
        method: 'post',
        headers: { 'X-Key': '{{key}}' },
        body: '{"from":"{{from}}","q":"{{q}}"}',
        timeoutValue: 5,
        responseData: [
          { name: 'order_state', data: '$.order.state', context: '' },
          { name: 'gone', data: '$.none', context: '' },
        ],
        responsePathways: [['order_state', '==', 'sent', { id: 'sent', name: 'Sent' }]],
      },
    ],
    ['sent', 'End Call', { text: 'It was sent.' }],
    ['open', 'End Call', { text: 'It is {{order_state}}.' }],
    ['failed', 'End Call', { text: 'No idea.' }],
  ];
  const edges: Edge[] = [
    ['w', 'failed', 'error'],
    ['w', 'open', 'found'],
  ];
  const variables = { id: 'a/b', q: 'x"&y', key: 'k', list: [{ part: '../c' }] };

  it('sends its request with escaped values', async () => {
    const conversation = talk(nodes, edges, { variables });
    const [, action] = await conversation.step({ type: 'start' });
    expect(action).toMatchObject({
      type: 'webhook',
      request: {
        method: 'POST',
        url: 'https://api.example.com/orders/a%2Fb/..%2Fc?q=x%22%26y',
        headers: { 'x-key': 'k', 'content-type': 'application/json' },
        body: '{"from":"+14155550101","q":"x\\"&y"}',
        timeoutMs: 5000,
      },
    });
  });

  it.each<[string, ConversationEvent, string]>([
    ['a response pathway', webhook(200, { order: { state: 'sent' } }), 'say It was sent.'],
    ['the first edge', webhook(200, { order: { state: 'packed' } }), 'say It is packed.'],
    ['the failure edge on an error status', webhook(500, 'x'), 'say No idea.'],
    ['the failure edge without a response', webhook(null, null, 'no answer'), 'say No idea.'],
  ])('follows %s', async (_what, event, said) => {
    const conversation = talk(nodes, edges, { variables });
    expect((await run(conversation, event))[1]).toEqual([said, ended]);
    expect(conversation.webhookCalls).toMatchObject([{ nodeId: 'w', method: 'POST', at: 1000 }]);
  });
});
