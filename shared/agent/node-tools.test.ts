import { describe, expect, it } from 'vitest';
import { ruleEngine } from '../models/rule-engine.ts';
import type { Action, ConversationEvent } from './conversation.ts';
import { loadGraph } from './graph.ts';
import type { ToolResult } from './interfaces.ts';
import { Conversation } from './interpreter.ts';
import { type PathwayTool, toolIdsIn } from './node-tools.ts';

const id = '00000000-0000-4000-8000-000000000001';
const lookUp: PathwayTool = {
  toolId: `TL-${id}`,
  name: 'look_up',
  description: 'Finds an order',
  inputSchema: {
    type: 'object',
    properties: { order: { type: 'string', description: 'number of the order' }, town: { type: 'string' } },
    required: ['order'],
  },
  speech: 'One moment, {{name}}.',
};

const node = (nodeId: string, data: object, type = 'Default') => ({
  id: nodeId,
  type,
  data: { name: nodeId, ...data },
});
const edge = (source: string, target: string, label: string) => ({ source, target, data: { label } });

function conversation(
  nodes: object[],
  edges: object[],
  options: { variables?: Record<string, unknown>; tools?: PathwayTool[] } = {},
) {
  return new Conversation({
    pathway: { pathwayId: 'p', graph: loadGraph(nodes, edges), tools: options.tools ?? [lookUp] },
    understanding: ruleEngine,
    variables: { name: 'Ann', ...options.variables },
    builtIns: () => ({}),
    now: () => 0,
    startNodeId: null,
    firstSentence: null,
    otherPathway: () => undefined,
  });
}

const short = (actions: readonly Action[]) =>
  actions.map((action) => {
    if (action.type === 'say') return `say ${action.text}`;
    if (action.type === 'tool') return `tool ${action.name} ${JSON.stringify(action.inputs)}`;
    return action.type;
  });
const done = (variables: Record<string, unknown>): ConversationEvent => ({
  type: 'tool',
  result: { ok: true, data: null, error: null, variables },
});
const failed: ToolResult = { ok: false, data: null, error: 'the target answered 500', variables: {} };

describe('a tool of a node', () => {
  it('runs on arrival when its inputs are known, speaks its words meanwhile, and returns variables to the node', async () => {
    const talk = conversation(
      [node('a', { isStart: true, tools: [id], text: 'It is {{status}}.' }), node('b', {}, 'End Call')],
      [edge('a', 'b', 'Bye')],
      { variables: { order: 77, town: 'Bern' } },
    );
    const actions = await talk.step({ type: 'start' });
    expect(short(actions)).toEqual(['say One moment, Ann.', 'tool look_up {"order":"77","town":"Bern"}']);
    expect(actions[1]).toMatchObject({ toolId: `TL-${id}`, nodeId: 'a', variables: { name: 'Ann' } });
    expect(await talk.step({ type: 'heard', text: 'hello' })).toEqual([]);
    expect(short(await talk.step(done({ status: 'sent' })))).toEqual(['say It is sent.', 'listen']);
    expect(talk.learned).toEqual({ status: 'sent' });
    expect(await talk.step(done({}))).toEqual([]);
  });

  it('asks for missing inputs, takes them from keys, and runs before the edge is chosen', async () => {
    const talk = conversation(
      [
        node('a', { isStart: true, tools: [`TL-${id}`], text: 'Your order number?' }),
        node('b', { text: 'It is {{status}}.' }, 'End Call'),
      ],
      [edge('a', 'b', 'Number given')],
    );
    const [say, listen] = await talk.step({ type: 'start' });
    expect(say).toMatchObject({ type: 'say', text: 'Your order number?' });
    expect(listen).toMatchObject({ type: 'listen', keys: { terminator: '#' } });
    expect(short(await talk.step({ type: 'keys', keys: '4711' }))).toEqual([
      'say One moment, Ann.',
      'tool look_up {"order":"4711"}',
    ]);
    expect(short(await talk.step(done({ status: 'lost' })))).toEqual(['say It is lost.', 'end']);
  });

  it('takes missing inputs from words too', async () => {
    const tool = {
      ...lookUp,
      speech: null,
      inputSchema: { ...lookUp.inputSchema, properties: { order: { type: 'integer' } } },
    };
    const talk = conversation(
      [node('a', { isStart: true, tools: [id], text: 'Number?' }), node('b', { text: 'ok' }, 'End Call')],
      [edge('a', 'b', 'Number given')],
      { tools: [tool] },
    );
    await talk.step({ type: 'start' });
    expect(short(await talk.step({ type: 'heard', text: 'it is 4711' }))).toEqual([
      'tool look_up {"order":4711}',
    ]);
    expect(short(await talk.step(done({})))).toEqual(['say ok', 'end']);
  });

  it('takes its inputs from toolCalls, and waits for nothing else', async () => {
    const toolCalls = [{ tool_id: id, inputs: { order: 'N-{{number}}', town: '{{place.city}}' } }];
    const talk = conversation([node('a', { isStart: true, toolCalls, text: 'Hi' })], [], {
      variables: { number: 5, place: { city: 'Bern' }, order: 'not this' },
    });
    expect(short(await talk.step({ type: 'start' }))).toEqual([
      'say One moment, Ann.',
      'tool look_up {"order":"N-5","town":"Bern"}',
    ]);
  });

  it('runs once per visit, and again on the next visit of the node', async () => {
    const talk = conversation(
      [node('a', { isStart: true, tools: [id], text: 'Again?' }), node('b', {}, 'End Call')],
      [edge('a', 'a', 'Press 1: again'), edge('a', 'b', 'Press 2: end')],
      { variables: { order: 'x' } },
    );
    await talk.step({ type: 'start' });
    expect(short(await talk.step(done({})))).toEqual(['say Again?', 'listen']);
    expect(short(await talk.step({ type: 'silence' }))).toEqual(['say Again?', 'listen']);
    expect(short(await talk.step({ type: 'keys', keys: '1' }))).toEqual([
      'say One moment, Ann.',
      'tool look_up {"order":"x"}',
    ]);
  });

  it('that fails follows the failure edge, or the conversation continues and the log says why', async () => {
    const nodes = [
      node('a', { isStart: true, tools: [id], text: 'Found.' }),
      node('sorry', { text: 'Sorry.' }, 'End Call'),
    ];
    const withWay = conversation(nodes, [edge('a', 'sorry', 'Failure')], { variables: { order: 'x' } });
    await withWay.step({ type: 'start' });
    expect(short(await withWay.step({ type: 'tool', result: failed }))).toEqual(['say Sorry.', 'end']);
    const without = conversation(nodes, [edge('a', 'sorry', 'Bye')], { variables: { order: 'x' } });
    await without.step({ type: 'start' });
    expect(short(await without.step({ type: 'tool', result: failed }))).toEqual(['say Found.', 'listen']);
    expect(without.log.map((line) => line.message)).toEqual(['the tool failed: the target answered 500']);
  });

  it('that no longer exists is skipped, and the log says so', async () => {
    const talk = conversation([node('a', { isStart: true, tools: [id], text: 'Hi' })], [], {
      variables: { order: 'x' },
      tools: [],
    });
    expect(short(await talk.step({ type: 'start' }))).toEqual(['say Hi', 'listen']);
    expect(talk.log.map((line) => line.message)).toEqual([`the tool ${id} is not available`]);
  });

  it('is available in any restored conversation', async () => {
    const nodes = [node('a', { isStart: true, tools: [id], text: 'Hi' })];
    const first = conversation(nodes, [], { variables: { order: 'x' } });
    await first.step({ type: 'start' });
    const state = JSON.parse(JSON.stringify(first.snapshot()));
    const second = new Conversation({
      pathway: { pathwayId: 'p', graph: loadGraph(nodes, []), tools: [lookUp] },
      understanding: ruleEngine,
      variables: {},
      builtIns: () => ({}),
      now: () => 0,
      startNodeId: null,
      firstSentence: null,
      otherPathway: () => undefined,
      state,
    });
    expect(short(await second.step(done({})))).toEqual(['say Hi', 'listen']);
  });
});

describe('the tools of a graph', () => {
  it('are those of its Default nodes, without duplicates, and no others', () => {
    expect(
      toolIdsIn([
        node('a', { tools: ['x', 5, null, 'y'], toolCalls: [{ tool_id: 'z' }, 'w', {}] }),
        node('b', { tools: ['x'] }),
        node('c', { tools: ['n'] }, 'End Call'),
        { globalConfig: {} },
        null,
        { type: 'Default', data: { tools: 'x' } },
      ]),
    ).toEqual(['z', 'x', 'y']);
  });
});
