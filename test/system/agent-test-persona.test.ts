/** Test runs over a real call with a persona: a language model with recorded responses plays both sides. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PersonaAnswer } from '#shared/api/personas.ts';
import { ToolChanged } from '#shared/api/tools.ts';
import { ModelServer, type Recording } from '../kit/fakes/model-server.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { longTest } from '../kit/long-test.ts';
import { AgentTestRuns, noCallIsUp } from '../kit/programs/agent-test-runs.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const number = '+14155550185';
/** Part of every request of the agent, and of the caller. */
const agent = 'You sell flowers at the market';
const caller = 'You play the person on the other end';
/** What the model takes for an answer of the agent. */
const thinkingMs = 2000;

let server: ModelServer;
let system: TestSystem;
let runs: AgentTestRuns;
let persona_id: string;

beforeAll(async () => {
  server = await ModelServer.start();
  const limits = { models: { maxRetries: 0 } };
  system = await TestSystem.start(
    { LLM_BASE_URL: server.url, LLM_MODEL: 'm-1', QUOTAS: 'runsAtOnce=1' },
    { control: { limits }, edge: { limits } },
  );
  runs = new AgentTestRuns(system);
  const { api } = system;
  const tool = await api.read(ToolChanged, 'POST', '/v2/tools', {
    name: 'look_up_order',
    description: 'Finds an order',
    integration: 'rest_api',
    action: 'request',
    input_schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    body: { url: 'https://shop.example.com/orders/{{input.order}}', method: 'GET' },
    response_data: [{ name: 'state', data: '$.state' }],
  });
  const made = await api.read(PersonaAnswer, 'POST', '/v1/personas', {
    name: 'Flora',
    personality_prompt: `${agent}.`,
    default_tools: [tool.data.id],
  });
  persona_id = made.data.id;
  await api.attach(number, []);
  await api.answerWith(number, { persona_id });
  await api.applied(number);
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => server?.close(),
  ),
);

const moves = (move: object): Recording => ({
  when: [caller],
  text: [JSON.stringify({ action: 'stay_silent', text: '', keys: '', reason: '', ...move })],
});
const presses = (keys: string) => moves({ action: 'press_keys', keys });

const order = (name: string, more: object = {}) =>
  runs.scenario({
    persona_id,
    name,
    tester_persona_prompt: 'You want to know where your order 4711 is.',
    ...more,
  });

test('a persona is called, receives the keys, uses a mocked tool, and is judged by its words', async () => {
  server.record(
    { when: [agent], text: ['Welcome to the flower shop. Please enter your order number.'] },
    presses('4711#'),
    { when: [agent, 'Pressed 4711'], calls: [{ name: 'look_up_order', input: { order: '4711' } }] },
    {
      when: [agent, 'on its way'],
      text: ['Your order is on its way. Goodbye.'],
      calls: [{ name: 'end_conversation', input: {} }],
      // Created on request.
      get delay() {
        return pause(thinkingMs);
      },
    },
  );
  const scenario = await order('An order', {
    metadata: { mocks: [{ tool: 'look_up_order', body: { state: 'on its way' } }] },
    assertions: [
      { type: 'STRING_CHECK', config: { value: 'on its way', target: 'agent' } },
      { type: 'STRING_CHECK', config: { value: 'Pressed 4711', target: 'user' } },
    ],
  });
  const run = await runs.voiceOf(scenario, number);
  expect(run).toMatchObject({
    status: 'PASSED',
    transport: 'sip',
    error_message: null,
    turn_count: 1,
    nodes_visited: [],
    reasoning: expect.stringContaining('The agent ended the conversation'),
    evaluator: { caller: { model: 'm-1' }, agent: { model: 'm-1' } },
    tool_calls: [
      { name: 'look_up_order', input: { order: '4711' }, result: { state: 'on its way' }, mocked: true },
    ],
  });
  const said = Object.groupBy(run.chat_history, ({ turn }) => turn);
  const text = (turn: number) => said[turn]?.map(({ role, content }) => `${role}: ${content}`);
  expect(text(0)?.join(' ')).toContain('Welcome to the flower shop.');
  expect(text(1)?.[0]).toMatch(/^user: Pressed 4711/);
  expect(text(1)?.slice(1).join(' ')).toContain('Your order is on its way.');
  const [greeting, answer] = run.voice.turns;
  expect(greeting).toMatchObject({ turn: 0, barge_in: false, transcript_source: 'agent_log' });
  expect(answer?.response_latency_ms).toBeGreaterThanOrEqual(thinkingMs);
  expect(run.voice.latency_ms.max).toBe(answer?.response_latency_ms);
  expect(run.voice.first_audio_ms).toBeLessThan(answer?.response_latency_ms ?? 0);
  expect(run.voice).toMatchObject({ dtmf_sent: ['4711#'], media: { verdict: 'two_way' } });
  expect(await system.api.endedCall(run.voice.call_id)).toMatchObject({ hangup_by: 'agent' });
});

test('a caller who is finished hangs up, which the agent sees as the end of the call', async () => {
  server.record(
    { when: [agent], text: ['Welcome to the flower shop. Please enter your order number.'] },
    moves({ action: 'hang_up', reason: 'wrong number' }),
  );
  const run = await runs.voiceOf(await order('Enough'), number);
  expect(run).toMatchObject({
    turn_count: 0,
    reasoning: expect.stringContaining('The caller hung up: wrong number'),
  });
  expect(await system.api.endedCall(run.voice.call_id)).toMatchObject({ hangup_by: 'peer' });
});

longTest('a failing caller model is an error of the test, not of the agent', async () => {
  const greets = { when: [agent], text: ['Welcome to the flower shop.'] };
  const fails = { when: [caller], status: 500 };
  // One attempt and two retries.
  server.record(greets, fails, greets, fails, greets, fails);
  const run = await runs.ended(await runs.start(await order('Fails'), number));
  expect(run).toMatchObject({ status: 'ERROR', voice: null, error_message: expect.any(String) });
  await noCallIsUp(system);
});

test('a number whose agent has changed before its turn is not called', async () => {
  const held = Promise.withResolvers<void>();
  server.record(
    { when: [agent], text: ['Welcome to the flower shop.'] },
    { ...moves({ action: 'hang_up' }), delay: held.promise },
  );
  const asked = server.requests.length + 2;
  const first = await runs.start(await order('First'), number);
  const second = await runs.start(await order('Second'), number);
  await server.asked(asked);
  const calls = (await system.api.calls()).length;
  await system.api.answerWith(number, { persona_id: null, prompt: 'Be kind.' });
  held.resolve();
  expect((await runs.ended(first)).voice).not.toBeNull();
  expect(await runs.ended(second)).toMatchObject({
    status: 'ERROR',
    error_message: `${number} is not answered by the tested persona.`,
    voice: null,
  });
  expect(await system.api.calls()).toHaveLength(calls);
});
