import { describe, expect, it } from 'vitest';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import {
  type Edge,
  ended,
  heard,
  keys,
  menu,
  type Node,
  run,
  short,
  silence,
  talk,
  webhook,
} from '../../test/kit/agent/conversations.ts';
import type { ConversationEvent } from './conversation.ts';
import { UnknownStartNode } from './conversation-options.ts';
import type { Understanding } from './interfaces.ts';

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

  it('store the place that a person names, which no number reveals', async () => {
    const where: Node[] = [
      ['ask', 'Default', { text: 'Which city?', extractVars: [['city', 'string', '']] }],
      ['say', 'End Call', { text: '{{city}}, {{state}}.' }],
    ];
    const conversation = talk(where, [['ask', 'say', 'given']], { variables: { state: 'Texas' } });
    expect((await run(conversation, heard('Austin')))[1]?.[0]).toBe('say Austin, Texas.');
    expect(conversation.learned).toEqual({ city: 'Austin' });
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
