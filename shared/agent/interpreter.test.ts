import { describe, expect, it } from 'vitest';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { Action, ConversationEvent } from './conversation.ts';
import { type ConversationOptions, UnknownStartNode } from './conversation-options.ts';
import { loadGraph } from './graph.ts';
import type { Understanding } from './interfaces.ts';
import { Conversation } from './interpreter.ts';

type Node = [id: string, type: string, data?: object];
type Edge = [source: string, target: string, label: string, description?: string];

function graphOf(nodes: Node[], edges: Edge[]) {
  return loadGraph(
    nodes.map(([id, type, data = {}], index) => ({
      id,
      type,
      data: { ...(index === 0 ? { isStart: true } : {}), ...data },
    })),
    edges.map(([source, target, label, description = '']) => ({
      source,
      target,
      data: { label, description },
    })),
  );
}

function talk(nodes: Node[], edges: Edge[], options: Partial<ConversationOptions> = {}) {
  return new Conversation({
    pathway: { pathwayId: 'p', graph: graphOf(nodes, edges) },
    understanding: ruleEngine,
    variables: {},
    builtIns: () => ({ from: '+14155550101' }),
    now: () => 1000,
    startNodeId: null,
    firstSentence: null,
    otherPathway: () => undefined,
    ...options,
  });
}

/** A short form of the actions. */
function short(action: Action): string {
  switch (action.type) {
    case 'say':
      return `say ${action.text}`;
    case 'listen':
      return `listen at ${action.nodeId}`;
    case 'press':
      return `press ${action.digits}`;
    case 'webhook':
      return `${action.request.method} ${action.request.url}`;
    case 'tool':
      return `tool ${action.name}`;
    case 'transfer':
      return `transfer to ${action.target} by ${action.method}`;
    case 'end':
      return `end: ${action.reason}`;
  }
}

async function run(conversation: Conversation, ...events: ConversationEvent[]): Promise<string[][]> {
  const all: string[][] = [];
  for (const event of [{ type: 'start' } as const, ...events]) {
    all.push((await conversation.step(event)).map(short));
  }
  return all;
}

const keys = (pressed: string): ConversationEvent => ({ type: 'keys', keys: pressed });
const heard = (text: string): ConversationEvent => ({ type: 'heard', text });
const silence: ConversationEvent = { type: 'silence' };
const webhook = (status: number | null, body: unknown, error: string | null = null): ConversationEvent => ({
  type: 'webhook',
  result: { status, body, error },
});

const menu: Node[] = [
  ['menu', 'Default', { text: 'Menu.' }],
  ['bills', 'End Call', { text: 'Bills.' }],
  ['sales', 'End Call', { text: 'Sales.' }],
  ['bad', 'End Call', { text: 'Bad key.' }],
  ['quiet', 'End Call', { text: 'Nobody there.' }],
];
const ended = 'end: the pathway reached its End Call node';

describe('a menu', () => {
  const edges: Edge[] = [
    ['menu', 'bills', 'press 1 for billing', 'invoices and payments'],
    ['menu', 'sales', 'press 2', 'buy something new'],
  ];

  it.each<[string, ConversationEvent, string[]]>([
    ['key 1', keys('1'), ['say Bills.', ended]],
    ['key 2', keys('2'), ['say Sales.', ended]],
    ['another key', keys('3'), ['say Menu.', 'listen at menu']],
    ['a spoken key', heard('two'), ['say Sales.', ended]],
    ['words of a label', heard('Billing, please'), ['say Bills.', ended]],
    ['words of a description', heard('I have a question on a payment'), ['say Bills.', ended]],
    ['words that match nothing', heard('what a lovely day'), ['say Menu.', 'listen at menu']],
    ['silence', silence, ['say Menu.', 'listen at menu']],
    ['an empty text', heard('  '), []],
    ['an unexpected event', webhook(200, {}), []],
  ])('on %s', async (_what, event, actions) => {
    expect(await run(talk(menu, edges), event)).toEqual([['say Menu.', 'listen at menu'], actions]);
  });

  it('prefers edges for wrong keys and for silence, and the default edge over repeating', async () => {
    const special: Edge[] = [...edges, ['menu', 'bad', 'invalid'], ['menu', 'quiet', 'no input']];
    expect((await run(talk(menu, special), keys('9')))[1]).toEqual(['say Bad key.', ended]);
    expect((await run(talk(menu, special), silence))[1]).toEqual(['say Nobody there.', ended]);
    const withDefault: Edge[] = [...edges, ['menu', 'bad', 'otherwise']];
    expect((await run(talk(menu, withDefault), keys('9')))[1]).toEqual(['say Bad key.', ended]);
    expect((await run(talk(menu, withDefault), heard('nothing of that')))[1]).toEqual([
      'say Bad key.',
      ended,
    ]);
  });

  it('repeats twice, then ends with the reason', async () => {
    const steps = await run(talk(menu, edges), silence, keys('7'), silence);
    expect(steps.slice(1)).toEqual([
      ['say Menu.', 'listen at menu'],
      ['say Menu.', 'listen at menu'],
      ['end: nothing was heard or pressed, no answer after 2 repeats'],
    ]);
  });

  it('keeps repeating when repeats do not end the conversation, and still follows a matching edge', async () => {
    const conversation = talk(menu, edges, { limits: { endsAfterRepeats: false } });
    const unfit = heard('nothing of that');
    const steps = await run(conversation, unfit, unfit, unfit, unfit, keys('1'));
    const again = ['say Menu.', 'listen at menu'];
    expect(steps.slice(1, 5)).toEqual([again, again, again, again]);
    expect(steps[5]?.[0]).toMatch(/^say (?!Menu)/);
  });

  it('uses the fallback words when it would repeat a node that has none', async () => {
    const wordlessRepeat = 'Once more, please?';
    const others: Node[] = [
      ['bills', 'End Call'],
      ['sales', 'End Call'],
    ];
    const silentNodes: Node[] = [['menu', 'Wait for Response'], ...others];
    const unfit = heard('nothing of that');
    const said = async (nodes: Node[], words: string | null) =>
      (await run(talk(nodes, edges, { limits: { wordlessRepeat: words } }), unfit)).slice(1);
    expect(await said(silentNodes, wordlessRepeat)).toEqual([['say Once more, please?', 'listen at menu']]);
    expect(await said(silentNodes, null)).toEqual([['listen at menu']]);
    const empty: Node[] = [['menu', 'Default', { text: '{{nothing}}' }], ...others];
    expect(await said(empty, wordlessRepeat)).toEqual([['say Once more, please?', 'listen at menu']]);
    const worded: Node[] = [['menu', 'Default', { text: 'Yes?' }], ...others];
    expect(await said(worded, wordlessRepeat)).toEqual([['say Yes?', 'listen at menu']]);
  });

  it('says nothing after its end', async () => {
    const conversation = talk(menu, edges);
    expect((await run(conversation, keys('1'), keys('2'), heard('billing'), silence)).slice(2)).toEqual([
      [],
      [],
      [],
    ]);
    expect(conversation.ended).toBe(true);
    expect(conversation.currentNode.id).toBe('bills');
  });

  it('processes concurrent events one after the other', async () => {
    const conversation = talk(menu, edges);
    const results = await Promise.all([conversation.step({ type: 'start' }), conversation.step(keys('2'))]);
    expect(results.map((actions) => actions.map(short))).toEqual([
      ['say Menu.', 'listen at menu'],
      ['say Sales.', ended],
    ]);
  });
});

describe('a single edge', () => {
  const nodes: Node[] = [
    ['a', 'Default', { text: 'A?' }],
    ['b', 'End Call', { text: 'B.' }],
  ];

  it('is followed on any words, and on any key when it names none', async () => {
    expect((await run(talk(nodes, [['a', 'b', 'the caller agrees']]), heard('whatever')))[1]).toEqual([
      'say B.',
      ended,
    ]);
    expect((await run(talk(nodes, [['a', 'b', 'the caller agrees']]), keys('5')))[1]).toEqual([
      'say B.',
      ended,
    ]);
    expect((await run(talk(nodes, [['a', 'b', 'press 1']]), keys('5')))[1]).toEqual([
      'say A?',
      'listen at a',
    ]);
  });

  it('without any edge, silence ends the conversation', async () => {
    expect((await run(talk([['a', 'Default', { text: 'A.' }]], []), silence))[1]).toEqual([
      'end: there is no edge to follow',
    ]);
  });
});

describe('variables', () => {
  const nodes: Node[] = [
    ['ask', 'Default', { text: 'PIN?', extractVars: [['pin', 'integer', 'the PIN']] }],
    ['say', 'End Call', { text: 'It is {{pin}}, {{from}}, {{input}}, {{plan}}.' }],
    ['operator', 'End Call', { text: 'Operator.' }],
  ];
  const edges: Edge[] = [
    ['ask', 'say', 'entered'],
    ['ask', 'operator', 'press 0'],
  ];

  it('are filled from keys and used in texts; built-in names cannot be overwritten', async () => {
    const conversation = talk(nodes, edges, { variables: { plan: 'gold', from: 'evil' } });
    expect((await run(conversation, keys('42')))[1]).toEqual([
      'say It is 42, +14155550101, 42, gold.',
      ended,
    ]);
    expect(conversation.learned).toEqual({ pin: 42 });
  });

  it('are filled from words', async () => {
    const conversation = talk(nodes, [['ask', 'say', 'entered']]);
    expect((await run(conversation, heard('my pin is 1,234')))[1]?.[0]).toBe(
      'say It is 1234, +14155550101, my pin is 1,234, .',
    );
  });

  it('leave keys named by an edge to that edge', async () => {
    expect((await run(talk(nodes, edges), keys('0')))[1]).toEqual(['say Operator.', ended]);
  });

  it('are asked for again when the input does not match their type', async () => {
    const conversation = talk(nodes, edges);
    expect((await run(conversation, keys('1*2')))[1]).toEqual(['say PIN?', 'listen at ask']);
    expect(conversation.learned).toEqual({});
  });

  it('take the choice of a menu', async () => {
    const choice: Node[] = [
      ['ask', 'Default', { text: 'Yes 1, no 2', extractVars: [['ok', 'boolean', '']] }],
      ['end', 'End Call'],
    ];
    const conversation = talk(choice, [
      ['ask', 'end', 'press 1'],
      ['ask', 'end', 'press 2'],
    ]);
    await run(conversation, keys('2'));
    expect(conversation.learned).toEqual({ ok: false });
  });

  it('block a condition until they are known', async () => {
    const withCondition: Node[] = [
      [
        'ask',
        'Default',
        { text: 'Age?', condition: 'the age is known', extractVars: [['age', 'integer', '']] },
      ],
      ['end', 'End Call', { text: 'Ok.' }],
    ];
    const conversation = talk(withCondition, [['ask', 'end', 'given']]);
    expect((await run(conversation, heard('why?'), heard('I am 40'))).slice(1)).toEqual([
      ['say Age?', 'listen at ask'],
      ['say Ok.', ended],
    ]);
  });
});

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

describe('starting', () => {
  it("says the first sentence instead of the first node's words, once", async () => {
    const edges: Edge[] = [
      ['menu', 'bills', 'press 1'],
      ['menu', 'sales', 'press 2'],
    ];
    const steps = await run(talk(menu, edges, { firstSentence: 'Hello {{from}}.' }), silence);
    expect(steps).toEqual([
      ['say Hello +14155550101.', 'listen at menu'],
      ['say Menu.', 'listen at menu'],
    ]);
  });

  it('starts at the requested node, or reports that it does not exist', async () => {
    expect(await run(talk(menu, [], { startNodeId: 'sales' }))).toEqual([['say Sales.', ended]]);
    expect(() => talk(menu, [], { startNodeId: 'x' })).toThrow(UnknownStartNode);
  });
});

describe('with a model', () => {
  const model = (answers: Partial<Understanding>): Understanding => ({ ...ruleEngine, ...answers });

  it('a reply is spoken and the node stays', async () => {
    const chooseEdge = async () => ({ choice: null, reason: 'a question came first', reply: 'We are open.' });
    const conversation = talk(menu, [['menu', 'bills', 'pay']], { understanding: model({ chooseEdge }) });
    expect((await run(conversation, heard('are you open?')))[1]).toEqual([
      'say We are open.',
      'listen at menu',
    ]);
    expect(conversation.history).toEqual([
      { role: 'assistant', text: 'Menu.' },
      { role: 'user', text: 'are you open?' },
      { role: 'assistant', text: 'We are open.' },
    ]);
  });

  it('a failure rejects the step, and the next event is processed', async () => {
    let calls = 0;
    const chooseEdge = async () => {
      if (calls++ === 0) throw new Error('model away');
      return { choice: 0, reason: 'fits' };
    };
    const conversation = talk(menu, [['menu', 'bills', 'pay']], { understanding: model({ chooseEdge }) });
    await conversation.step({ type: 'start' });
    await expect(conversation.step(heard('pay'))).rejects.toThrow('model away');
    expect((await conversation.step(heard('pay'))).map(short)).toEqual(['say Bills.', ended]);
  });
});
