import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DialoguePart } from '#shared/agent/dialogue.ts';
import { FakeClock } from '#shared/clock.ts';
import { ModelServer } from '../../test/kit/fakes/model-server.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { Gate } from './gate.ts';
import { LanguageModel, type LanguageModelOptions, type Usage } from './language-model.ts';
import type { ModelFailure } from './model-unavailable.ts';

let server: ModelServer;
let clock: FakeClock;
let usage: Usage[];
let attempts: string[];
beforeEach(async () => {
  server = await ModelServer.start();
  clock = new FakeClock();
  usage = [];
  attempts = [];
});
/** Fails if a timer or an unused recording is left. */
afterEach(() =>
  releaseAll(
    () => server.close(),
    () => expect(clock.pending).toBe(0),
  ),
);

function model(options: Partial<LanguageModelOptions> = {}): LanguageModel {
  return new LanguageModel({
    role: 'agent',
    baseUrl: server.url,
    apiKey: 'sk-secret',
    model: 'm-1',
    timeoutMs: 5000,
    maxRetries: 2,
    maxTokens: 200,
    gate: new Gate(4, clock),
    clock,
    random: () => 0.5,
    usage: (used) => usage.push(used),
    attempted: (_role, outcome) => attempts.push(outcome),
    ...options,
  });
}

const ask = {
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Hello' }],
} as const;
const failing = (failure: ModelFailure, message: string) => ({
  name: 'ModelUnavailable',
  failure,
  message: expect.stringContaining(message),
});

async function all(parts: AsyncIterable<DialoguePart>): Promise<DialoguePart[]> {
  const found: DialoguePart[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

/** Advances time once the clock has the timers of a pause. */
async function pause(ms: number, asked: number): Promise<void> {
  await server.asked(asked);
  while (attempts.length < asked) await new Promise(setImmediate);
  while (clock.pending === 0) await new Promise(setImmediate);
  clock.advance(ms);
}

describe('requesting a text', () => {
  it('sends model, key, limits and messages, and counts the tokens', async () => {
    server.record({ text: ['Good', ' day.'], usage: { input: 31, output: 4 } });
    expect(await model().text({ ...ask, temperature: 0, seed: 7 })).toBe('Good day.');
    expect(server.requests).toMatchObject([
      {
        model: 'm-1',
        authorization: 'Bearer sk-secret',
        max_tokens: 200,
        temperature: 0,
        seed: 7,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ]);
    expect(usage).toEqual([{ role: 'agent', model: 'm-1', input_tokens: 31, output_tokens: 4 }]);
    expect(attempts).toEqual(['ok']);
  });

  it('accepts a base URL with /v1 and sends no key when there is none', async () => {
    server.record({ text: ['Yes.'] });
    expect(await model({ baseUrl: `${server.url}/v1/`, apiKey: null }).text(ask)).toBe('Yes.');
    expect(server.requests[0]?.authorization).toBeUndefined();
  });
});

describe('a failing server', () => {
  it('is retried after the time in its Retry-After', async () => {
    server.record({ status: 429, headers: { 'retry-after': '3' } }, { text: ['Back.'] });
    const text = model().text(ask);
    await pause(2999, 1);
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    expect(await text).toBe('Back.');
    expect(attempts).toEqual(['refused', 'ok']);
  });

  it('is retried with growing pauses, as often as configured', async () => {
    server.record({ status: 500 }, { status: 503 }, { status: 502 });
    const text = expect(model().text(ask)).rejects.toMatchObject(failing('refused', 'status 502'));
    await pause(500, 1);
    await pause(1000, 2);
    await text;
    expect(server.requests).toHaveLength(3);
  });

  it('is not retried when its Retry-After is too long', async () => {
    server.record({ status: 429, headers: { 'retry-after': '5' } });
    await expect(model().text(ask)).rejects.toMatchObject(failing('refused', 'status 429'));
  });

  it('is not retried when it rejects the request itself, and the error text contains no key', async () => {
    server.record({ status: 401, body: '{"error":"Incorrect key sk-secret"}' });
    const error = await model()
      .text(ask)
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject(failing('refused', 'status 401 {"error":"Incorrect key ********"}'));
    expect(String(error)).toContain(server.url);
  });

  it('times out when it is silent for too long, including earlier attempts', async () => {
    const never = Promise.withResolvers<void>();
    server.record({ status: 503, headers: { 'retry-after': '3' } }, { delay: never.promise });
    const text = expect(model().text(ask)).rejects.toMatchObject(
      failing('timeout', 'no answer within 5000 ms'),
    );
    await pause(3000, 1);
    await server.asked(2);
    clock.advance(2000);
    await text;
    never.resolve();
    expect(attempts).toEqual(['refused', 'timeout']);
  });

  it('is reported as unreachable when nothing listens there', async () => {
    const gone = await ModelServer.start();
    const baseUrl = gone.url;
    await gone.close();
    await expect(model({ baseUrl, maxRetries: 0 }).text(ask)).rejects.toMatchObject(
      failing('network', 'ECONNREFUSED'),
    );
  });

  it.each([
    ['not JSON', { body: '<html>' }],
    ['JSON of another kind', { body: '{"choices":[]}' }],
  ])('is reported when it answers %s', async (_name, recording) => {
    server.record(recording);
    await expect(model().text(ask)).rejects.toMatchObject({ name: 'ModelUnavailable', failure: 'nonsense' });
  });

  it('is cut off when its response is too large', async () => {
    server.record({ text: ['x'.repeat(5000)] });
    await expect(model({ maxResponseBytes: 2000 }).text(ask)).rejects.toMatchObject(
      failing('nonsense', 'larger than 2000 bytes'),
    );
  });

  it('gets a limited number of concurrent requests; requests that wait too long fail', async () => {
    const first = Promise.withResolvers<void>();
    server.record({ delay: first.promise, text: ['One.'] }, { text: ['Two.'] });
    const gate = new Gate(1, clock);
    const one = model({ gate }).text(ask);
    await server.asked(1);
    const impatient = expect(model({ gate, timeoutMs: 1000 }).text(ask)).rejects.toMatchObject(
      failing('busy', 'LLM_CONCURRENCY'),
    );
    while (gate.waiting === 0) await new Promise(setImmediate);
    const two = model({ gate }).text(ask);
    while (gate.waiting === 1) await new Promise(setImmediate);
    clock.advance(1000);
    await impatient;
    first.resolve();
    expect([await one, await two]).toEqual(['One.', 'Two.']);
    expect([gate.inside, gate.waiting]).toEqual([0, 0]);
  });
});

describe('a streaming response', () => {
  it('yields each piece as it arrives, then the tool calls', async () => {
    const rest = Promise.withResolvers<void>();
    server.record({
      text: ['Good ', rest.promise, 'day.'],
      calls: [{ name: 'look_up', input: { id: 5 } }],
    });
    const tools = [{ name: 'look_up', description: 'd', inputSchema: { type: 'object' }, choices: [] }];
    const parts = model().reply({ ...ask, tools });
    expect(await parts.next()).toEqual({ done: false, value: { type: 'text', text: 'Good ' } });
    rest.resolve();
    expect(await all(parts)).toEqual([
      { type: 'text', text: 'day.' },
      { type: 'call', call: { id: 'call-0', name: 'look_up', input: { id: 5 } } },
    ]);
    expect(usage).toHaveLength(1);
  });

  it('fails when it breaks off, and is not retried', async () => {
    const sent = Promise.withResolvers<void>();
    server.record({ text: ['Good ', sent.promise], cut: true });
    const parts = model().reply(ask);
    expect((await parts.next()).value).toEqual({ type: 'text', text: 'Good ' });
    sent.resolve();
    await expect(parts.next()).rejects.toMatchObject({ name: 'ModelUnavailable', failure: 'network' });
    expect(server.requests).toHaveLength(1);
  });

  it('times out when it stalls', async () => {
    const never = Promise.withResolvers<void>();
    server.record({ text: ['Good ', never.promise] });
    const parts = model().reply(ask);
    await parts.next();
    const next = expect(parts.next()).rejects.toMatchObject(failing('timeout', '5000 ms'));
    clock.advance(5000);
    await next;
    never.resolve();
  });

  it('is aborted on the server too when the reader stops, or when the signal is aborted', async () => {
    const never = Promise.withResolvers<void>();
    server.record({ text: ['Good ', never.promise] }, { text: ['Bad ', never.promise] });
    for await (const _part of model().reply(ask)) break;
    const stop = new AbortController();
    const parts = model().reply({ ...ask, signal: stop.signal });
    await parts.next();
    stop.abort(new Error('interrupted'));
    await expect(parts.next()).rejects.toThrow('interrupted');
    while (server.aborted < 2) await new Promise(setImmediate);
    never.resolve();
  });

  it('is unusable when it is empty', async () => {
    server.record({ text: [] });
    await expect(all(model().reply(ask))).rejects.toMatchObject(failing('nonsense', 'its answer is empty'));
  });
});

describe('a response of a given form', () => {
  const Verdict = Type.Object({ holds: Type.Boolean() });

  it('is extracted from the text around it', async () => {
    server.record({ text: ['Sure:\n```json\n{"holds": true}\n```'] });
    expect(await model().structured(Verdict, ask)).toEqual({ holds: true });
    expect(server.requests[0]?.messages[0]?.content).toContain('"required":["holds"]');
  });

  it('is requested once more, with the reason why it is invalid', async () => {
    server.record({ text: ['{"holds": "yes"}'] }, { text: ['{"holds": false}'] });
    expect(await model().structured(Verdict, ask)).toEqual({ holds: false });
    expect(server.requests[1]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: '{"holds": "yes"}' },
      {
        role: 'user',
        content:
          'That does not fit the JSON Schema: /holds must be boolean. Answer with the corrected JSON object only.',
      },
    ]);
  });

  it('fails when the second one is invalid too', async () => {
    server.record({ text: ['maybe'] }, { text: ['{}'] });
    await expect(model().structured(Verdict, ask)).rejects.toMatchObject(
      failing('nonsense', 'does not fit what was asked for'),
    );
  });
});
