import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HeardTurn } from '#shared/agent-test-protocol.ts';
import { systemClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { type EdgeEnd, runId, TestSockets } from '../../../test/kit/control/over-call.ts';
import { callRecord } from '../../../test/kit/fakes/call-record.ts';
import type { TextAgent } from '../../conversations/text-agent.ts';
import type { CallerMove } from '../callers/ports.ts';
import type { ChatLine } from '../judging/ports.ts';
import { outsideOf } from '../mocks/declared.ts';
import { Recorder } from '../mocks/mocks.ts';
import { callSettings } from './settings.ts';
import { CallFailure, CallTalk, type CallTalked, NoRoom } from './talk.ts';

const agent: TextAgent = {
  kind: 'pathway',
  orgId: 'o1',
  pathwayId: 'p1',
  version: 0,
  startNodeId: null,
  firstSentence: null,
  graphs: [],
};
const heard: HeardTurn = {
  response_latency_ms: 300,
  speech_ms: 1000,
  silence_ms: 0,
  barge_in: false,
  silent_after_ms: null,
  overlap_ms: 0,
  words: null,
};
const media: NonNullable<CallRecord['media']> = {
  packets_sent: 100,
  packets_received: 100,
  packets_lost: 0,
  jitter_ms: 1,
  round_trip_ms: 1,
  mos: 4.4,
  verdict: 'two_way',
  cause: null,
};
const answered = '2026-01-01T00:00:01.000Z';
const over = { answered_at: answered, ended_at: '2026-01-01T00:00:09.000Z', media, codec: 'PCMU' };
const callerEnd = callRecord({ id: 'caller', direction: 'outbound', ...over, termination: 'callee_hangup' });
const agentEnd = callRecord({
  id: 'agent',
  ...over,
  termination: 'agent_hangup',
  termination_detail: 'the pathway reached its End Call node',
});
const ended = {
  type: 'ended' as const,
  caller: callerEnd,
  agent: agentEnd,
  transferred_to: null,
  visits: [
    { node_id: 'ask', node_name: 'Ask' },
    { node_id: 'tell', node_name: 'Tell' },
  ],
  variables: { size: 3 },
  log: [{ at: 0, node_id: 'ask', message: 'heard' }],
  keys_sent: [],
};

let testSockets: TestSockets;
let edge: EdgeEnd;
let lines: ChatLine[];
let stop: AbortController;

beforeEach(async () => {
  testSockets = await TestSockets.open();
  lines = [];
  stop = new AbortController();
});
afterEach(() => testSockets.close());

/** Starts talking to a caller with these moves. */
async function talk(
  moves: readonly CallerMove[],
  metadata: Record<string, unknown> = {},
  maxTurns = 10,
  target: { readonly to?: string } = {},
) {
  const expected = testSockets.expect();
  edge = await testSockets.edge(expected.key);
  const left = [...moves];
  const recorder = new Recorder({
    outside: outsideOf(metadata),
    agent,
    clock: systemClock,
    webhook: async () => ({ status: null, body: null, error: 'nothing is really sent' }),
    tools: null,
  });
  const talking = new CallTalk(await expected.arrived, {
    runId,
    agent,
    caller: {
      evaluator: { provider: 'embedded', model: 'test', deterministic: true },
      next: async () => left.shift() ?? { type: 'hangup', reason: 'The caller has no more moves.' },
    },
    recorder,
    settings: callSettings(metadata),
    maxTurns,
    target,
    signal: stop.signal,
    onLine: (line) => lines.push(line),
  });
  const promise = talking.hold();
  promise.catch(() => undefined);
  return { promise };
}

const say = (text: string, leaves?: string): CallerMove => ({
  type: 'say',
  text,
  ...(leaves !== undefined && { leaves }),
});
const line = (text: string, node_id = 'ask') => ({ type: 'line', text, node_id });
const turn = (more: Partial<HeardTurn> = {}, last = false) => ({
  type: 'turn',
  last,
  heard: { ...heard, ...more },
});
const contents = ({ record }: CallTalked) =>
  record.chat_history.map(({ role, content, turn: at }) => `${at} ${role}: ${content}`);

describe('a conversation over a call', () => {
  test('in weather has no result when the edge does not know weather', async () => {
    const held = await talk([], { call: { weather: { loss_percent: 5 } } });
    edge.send(ended);
    await expect(held.promise).rejects.toThrow('the edge is of an earlier version');
  });

  test('is what the agent said and what the caller actually did', async () => {
    const held = await talk([{ type: 'keys', keys: '1' }, say('too late')]);
    edge.send({ type: 'answered', call_id: 'agent' }, line('Press 1.'), turn());
    expect(await edge.order()).toEqual({ type: 'keys', keys: '1', interrupt_after_ms: null });
    edge.send({ type: 'moved' }, line('Done. Goodbye.', 'tell'), turn({ response_latency_ms: 200 }));
    expect(await edge.order()).toMatchObject({ type: 'say', text: 'too late' });
    edge.send(ended);
    const talked = await held.promise;
    expect(contents(talked)).toEqual([
      '0 assistant: Press 1.',
      '1 user: Pressed 1',
      '1 assistant: Done. Goodbye.',
    ]);
    expect(talked).toMatchObject({
      turnCount: 1,
      currentNodeId: 'tell',
      turns: [
        { turn: 0, response_latency_ms: 300 },
        { turn: 1, response_latency_ms: 200 },
      ],
      record: {
        variables: { size: 3 },
        nodes_visited: ['ask', 'tell'],
        node_names: { ask: 'Ask', tell: 'Tell' },
        ending: {
          by: 'agent',
          reason: 'The agent ended the conversation: the pathway reached its End Call node.',
        },
      },
    });
    expect(lines).toEqual(talked.record.chat_history);
  });

  test('uses the transcribed words, and makes no move after the last turn', async () => {
    const held = await talk([say('never said')]);
    edge.send(line('Hello.'), turn({ words: 'hello' }, true), ended);
    const talked = await held.promise;
    expect(contents(talked)).toEqual(['0 assistant: hello']);
    expect(talked.record.chat_history[0]?.node_id).toBe('ask');
  });

  test('has of lines that were cut off only what was heard, whenever the edge tells', async () => {
    const held = await talk([say('Stop.'), say('Again.')]);
    const said = (id: string, text: string) => ({ type: 'line', text, node_id: 'ask', id });
    const cut = (id: string, text: string) => ({ type: 'cut', id, text });
    edge.send(
      said('a', 'It costs ten dollars. Refunds are free.'),
      said('b', 'Never heard.'),
      cut('b', ''),
      turn(),
    );
    expect(await edge.order()).toMatchObject({ text: 'Stop.' });
    edge.send({ type: 'moved' }, cut('a', 'It costs ten'), cut('none', 'x'), said('c', 'Yes?'), turn());
    expect(await edge.order()).toMatchObject({ text: 'Again.' });
    edge.send({ type: 'moved' }, said('d', 'Sure. And goodbye.'), cut('d', 'Sure.'), cut('c', ''), ended);
    expect(contents(await held.promise)).toEqual([
      '0 assistant: It costs ten',
      '1 user: Stop.',
      '2 user: Again.',
      '2 assistant: Sure.',
    ]);
  });

  test('has nothing of a turn in which a transcription server heard nothing', async () => {
    const held = await talk([]);
    edge.send(line('The account is closed.'), turn({ words: '' }), ended);
    expect(contents(await held.promise)).toEqual([]);
  });

  test.each([
    [false, 'What is your account number?', '4711', { type: 'keys', keys: '4711' }],
    [false, 'Please enter your PIN.', 'My PIN is four seven 1 1.', { type: 'keys', keys: '4711' }],
    [false, 'What is your account number?', 'I have none.', { type: 'say', text: 'I have none.' }],
    [false, 'How can I help you?', 'I want 2 seats.', { type: 'say', text: 'I want 2 seats.' }],
    [false, 'Your number?', 'It is 4711, or 4712.', { type: 'say', text: 'It is 4711, or 4712.' }],
    [true, 'What is your account number?', '4711', { type: 'say', text: '4711' }],
    [undefined, 'What is your account number?', '4711', { type: 'say', text: '4711' }],
  ])('hearing %s: asked “%s”, a caller with “%s” does %j', async (hears, asked, text, order) => {
    const held = await talk([say(text)]);
    edge.send(
      { type: 'answered', call_id: 'agent', ...(hears !== undefined && { hears }) },
      line(asked),
      turn(),
    );
    expect(await edge.order()).toMatchObject(order);
    edge.send({ type: 'moved' }, ended);
    const { reason } = (await held.promise).record.ending;
    const inVain = hears === false && order.type === 'say';
    expect(reason.endsWith('(STT_BASE_URL): 1 spoken answer of the caller could not be understood.')).toBe(
      inVain,
    );
  });

  test('ends when the caller has reached its goal, after the answer', async () => {
    const held = await talk([say('Thank you, goodbye.', 'The caller is content.')]);
    edge.send(line('Anything else?'), turn());
    await edge.order();
    edge.send({ type: 'moved' }, line('Goodbye.'), turn());
    expect(await edge.order()).toEqual({ type: 'hangup', reason: 'The caller is content.' });
    edge.send({ ...ended, caller: { ...callerEnd, termination: 'agent_hangup' } });
    expect((await held.promise).record.ending).toEqual({ by: 'caller', reason: 'The caller is content.' });
  });

  test('ends at the turn limit', async () => {
    const held = await talk([{ type: 'silence' }, say('more')], {}, 1);
    edge.send(line('Hello?'), turn());
    expect(await edge.order()).toEqual({ type: 'silence', interrupt_after_ms: null });
    edge.send({ type: 'moved' }, line('Hello?'), turn());
    expect(await edge.order()).toMatchObject({ type: 'hangup' });
    edge.send({ ...ended, caller: { ...callerEnd, termination: 'agent_hangup' } });
    const talked = await held.promise;
    expect(talked.record.ending.by).toBe('max_turns');
    expect(contents(talked)).toEqual(['0 assistant: Hello?', '1 user: (silence)', '1 assistant: Hello?']);
  });

  test('tells the edge when to interrupt with the next words', async () => {
    const held = await talk([say('one'), say('two')], {
      call: { interrupt_turns: [2], interrupt_after_ms: 500 },
    });
    edge.send(turn());
    expect(await edge.order()).toMatchObject({ text: 'one', interrupt_after_ms: 500 });
    edge.send({ type: 'moved' }, turn());
    expect(await edge.order()).toMatchObject({ text: 'two', interrupt_after_ms: null });
    edge.send(ended);
    await held.promise;
  });

  test("has the agent's webhooks answered by mocks, also while the caller is thinking", async () => {
    const held = await talk([], { mocks: [{ node_id: 'w', body: { state: 'sent' } }] });
    const request = { method: 'POST', url: 'https://a.example/x', headers: {}, body: '{}', timeoutMs: 1000 };
    edge.send({ type: 'webhook', id: 7, node_id: 'w', request });
    expect(await edge.order()).toEqual({
      type: 'webhook_result',
      id: 7,
      result: { status: 200, body: { state: 'sent' }, error: null },
    });
    edge.send(ended);
    const { record } = await held.promise;
    expect(record.webhook_calls).toMatchObject([{ node_id: 'w', mocked: true, body: '{}' }]);
  });

  test('answers calls of an unknown tool', async () => {
    const held = await talk([]);
    edge.send({ type: 'tool', id: 8, tool_id: 't', inputs: {}, variables: {} });
    expect(await edge.order()).toMatchObject({ type: 'tool_result', id: 8, result: { ok: false } });
    edge.send(ended);
    await held.promise;
  });

  test('ends with a transfer', async () => {
    const held = await talk([]);
    edge.send({ ...ended, transferred_to: '+14155550999' });
    expect((await held.promise).record.ending).toEqual({
      by: 'transfer',
      reason: 'The agent ended the conversation: transfer to +14155550999.',
      transferred_to: '+14155550999',
    });
  });

  test('keeps the facts of the log that it knows, and every line', async () => {
    const held = await talk([]);
    const known = { kind: 'tool_unknown', tool_id: 'TL-1' };
    const line = { at: 0, node_id: 'ask', message: 'a sentence' };
    edge.send({ ...ended, log: [{ ...line, fact: known }, { ...line, fact: { kind: 'newer' } }, line] });
    expect((await held.promise).record.log.map(({ message, fact }) => [message, fact])).toEqual([
      ['a sentence', known],
      ['a sentence', null],
      ['a sentence', null],
    ]);
  });
});

describe('a call without a usable result', () => {
  const unanswered = { answered_at: null, media: null };
  test.each([
    [
      'was not answered',
      {
        agent: { ...agentEnd, ...unanswered, termination: 'agent_unavailable', termination_detail: null },
        caller: { ...callerEnd, ...unanswered },
      },
      'The call was not answered: The agent could not be started.',
    ],
    [
      'was rejected before an agent existed',
      {
        agent: null,
        caller: {
          ...callerEnd,
          ...unanswered,
          termination: 'callee_refused',
          termination_detail: null,
          sip_code: 403,
          sip_reason: 'Forbidden',
        },
      },
      'The call was not answered: The callee refused the call. (403 Forbidden)',
    ],
    [
      'brought no audio',
      { caller: { ...callerEnd, media: { ...media, packets_received: 0, cause: 'The way is blocked.' } } },
      'No audio came from the agent: The way is blocked.',
    ],
    [
      'lost its agent',
      { agent: { ...agentEnd, termination: 'agent_failed', termination_detail: 'out of memory' } },
      'The agent failed during the call: out of memory',
    ],
    [
      'was cut off',
      { caller: { ...callerEnd, termination: 'engine_lost', termination_detail: null } },
      'The call was cut off: The connection to the SIP engine was lost.',
    ],
  ])('fails the run when it %s', async (_name, difference, message) => {
    const held = await talk([]);
    edge.send({ ...ended, ...difference });
    await expect(held.promise).rejects.toThrow(message);
  });

  const lost = { ...unanswered, termination_detail: null };
  const refused = { ...callerEnd, ...lost, termination: 'callee_refused', sip_code: 503, sip_reason: null };
  test.each([
    [
      'the caller has no port',
      { agent: null, caller: { ...callerEnd, ...lost, termination: 'no_media_port' } },
      {},
      true,
    ],
    [
      'the caller is a call too many',
      { agent: null, caller: { ...callerEnd, ...lost, termination: 'capacity' } },
      {},
      true,
    ],
    [
      'the agent has no port',
      { agent: { ...agentEnd, ...lost, termination: 'no_media_port' }, caller: refused },
      {},
      true,
    ],
    ['the edge answers 503 to itself', { agent: null, caller: refused }, {}, true],
    ['others answer 503', { agent: null, caller: refused }, { to: '+14155550199' }, false],
    ['it answers 403', { agent: null, caller: { ...refused, sip_code: 403 } }, {}, false],
  ])('may have room later, or not: %s', async (_, difference, target, mayHave) => {
    const held = await talk([], {}, 10, target);
    edge.send({ ...ended, ...difference });
    const why = await held.promise.catch((error: unknown) => error);
    expect(why).toBeInstanceOf(CallFailure);
    expect(why instanceof NoRoom).toBe(mayHave);
  });

  test('fails the run when its edge is gone', async () => {
    const held = await talk([]);
    edge.lose();
    await expect(held.promise).rejects.toThrow('The edge was lost during the call.');
  });

  test('is ended when the run is aborted', async () => {
    const held = await talk([]);
    stop.abort(new Error('cancelled'));
    await expect(held.promise).rejects.toThrow('cancelled');
  });
});
