/** A call that a language model answers, over real HTTP, TLS and SRTP (docs/models.md). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ModelServer } from '../kit/fakes/model-server.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { TraceCollector } from '../kit/fakes/trace-collector.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const number = '+14155550160';
const loud = 1000;
const silence = Buffer.alloc(160, 0xff);

let server: ModelServer;
let collector: TraceCollector;
let system: TestSystem;
let caller: Caller | null = null;

beforeAll(async () => {
  server = await ModelServer.start();
  collector = await TraceCollector.start();
  system = await TestSystem.start({
    LLM_BASE_URL: server.url,
    LLM_MODEL: 'm-1',
    LLM_API_KEY: 'sk-1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  await system.api.attach(number);
  await system.api.answerWith(number, {
    prompt: 'Sell flowers to {{from}}.',
    temperature: 0.3,
    transfer_list: { manager: '+14155550999' },
  });
  await system.api.applied(number);
});

afterEach(async () => {
  await caller?.close();
  caller = null;
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => server?.close(),
    () => collector?.close(),
  ),
);

async function lines(of: Caller): Promise<string[]> {
  const { id } = await system.api.loggedCall(of.callId, ({ answered_at }) => answered_at !== null);
  const { transcripts } = await system.api.detail(id);
  return transcripts.map(({ user, text }) => `${user}: ${text}`);
}

test('plays the first sentence while the model generates the second, and handles keys', async () => {
  const rest = Promise.withResolvers<void>();
  server.record(
    { text: ['Welcome to the flower shop. ', rest.promise, 'How many roses?'] },
    {
      when: ['Pressed 12'],
      text: ['I ask my manager.'],
      calls: [{ name: 'transfer_call', input: { to: 'manager' } }],
    },
    {
      when: ['the transfer failed'],
      text: ['Twelve roses it is. Goodbye.'],
      calls: [{ name: 'end_conversation', input: {} }],
    },
  );
  caller = await callAndTalk(system, number);
  const { media, phone } = caller;
  await media.play([silence, silence, silence]);
  await media.when(() => media.samples(8000).some((sample) => Math.abs(sample) > loud));
  const [asked] = server.requests;
  expect(asked).toMatchObject({ model: 'm-1', temperature: 0.3, authorization: 'Bearer sk-1' });
  expect(asked?.messages[0]?.content).toContain('Sell flowers to "');
  expect((await lines(caller)).join('\n')).not.toContain('How many roses?');
  rest.resolve();
  await eventually('the second sentence', async () =>
    (await lines(caller as Caller)).find((line) => line === 'assistant: How many roses?'),
  );
  for (const key of ['1', '2', '#']) await media.press(key);
  await phone.expect('BYE');
  expect(await system.api.endedCall(caller.callId)).toMatchObject({
    outcome: 'completed',
    hangup_by: 'agent',
  });
  const said = (await lines(caller)).filter((line) => !line.startsWith('agent-action: Interrupted'));
  expect(said).toEqual([
    'agent-action: No speech recognition is configured: this call is driven by key presses.',
    'assistant: Welcome to the flower shop.',
    'assistant: How many roses?',
    'user: Pressed 12',
    'assistant: I ask my manager.',
    'agent-action: transfer to "manager"',
    'agent-action: Transferring the call to +14155550999.',
    'agent-action: The transfer to +14155550999 failed: The number has no outbound configuration.',
    'agent-action: transfer: The number has no outbound configuration.',
    'assistant: Twelve roses it is.',
    'assistant: Goodbye.',
    'agent-action: the agent ended the conversation',
  ]);

  const { id } = await system.api.loggedCall(caller.callId, () => true);
  const traceId = id.replaceAll('-', '');
  const call = await eventually('the span of the call', async () =>
    collector.of(traceId).find(({ name }) => name === 'call'),
  );
  expect(call).toMatchObject({
    service: 'trunkline-edge',
    parentSpanId: '',
    attributes: { 'trunkline.call_id': id, 'trunkline.direction': 'inbound', 'trunkline.answered': true },
  });
  // The two threads of the call send their spans apart.
  const below = await eventually('the spans of its servers and of its transfer', async () => {
    const names = collector
      .of(traceId)
      .filter(({ parentSpanId }) => parentSpanId === call.spanId)
      .map(({ name }) => name);
    const requests = names.filter((name) => name === 'model request');
    return requests.length >= 3 && new Set(names).size >= 3 ? names : null;
  });
  expect(new Set(below)).toEqual(new Set(['model request', 'text-to-speech', 'transfer']));
  const ofControl = collector.spans.filter(({ service }) => service === 'trunkline-control');
  expect(ofControl.map(({ name }) => name)).toContain('GET /v1/calls/:call_id');
  expect(collector.texts.join()).not.toMatch(/14155550160|roses|sk-1|Sell flowers/);
});

test('is rejected when the model returns no first sentence', async () => {
  server.record({ status: 401, body: '{"error":"bad key sk-1"}' });
  await expect(callAndTalk(system, number)).rejects.toThrow('480');
});
