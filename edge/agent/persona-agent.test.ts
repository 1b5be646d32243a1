import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { FakeClock } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { createModels } from '#shared/models/models.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { loudVoices } from '../../test/kit/ears/loud-voices.ts';
import {
  ada,
  call,
  countingVoice,
  manner,
  RecordingHost,
  RecordingLog,
  ruleModels,
  settle,
  takeFrames,
} from '../../test/kit/edge/agent.ts';
import { ModelServer } from '../../test/kit/fakes/model-server.ts';
import type { AgentLeg } from '../call/ports/agents.ts';
import { createAgents } from './agents.ts';

const persona = {
  ...ada,
  transfer_list: { default: '+14155550111' },
  tools: [
    {
      tool_id: 'TL-55555555-5555-4555-8555-555555555555',
      name: 'find_order',
      description: 'Finds an order',
      input_schema: { type: 'object', properties: { id: { type: 'string' } } },
      speech: 'One second.',
      timeout_ms: 10_000,
    },
  ],
} satisfies AgentSettings;

/** Returns the given texts, one per utterance. */
function says(...texts: string[]): SpeechToText {
  return { transcribe: async () => texts.shift() ?? '' };
}

function hear(agent: AgentLeg, frames: number, level = 3000): void {
  const frame = new Int16Array(160).map((_, i) => (i % 8 < 4 ? level : -level));
  for (let i = 0; i < frames; i++) agent.write?.(frame);
}

/** The caller says something that speech recognition understands. */
function speak(agent: AgentLeg): void {
  hear(agent, 10);
  hear(agent, 36, 0);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

describe('a persona on a call', () => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await ModelServer.start();
  });
  afterEach(() => server.close());

  interface Setup {
    readonly settings?: { readonly first_sentence?: null };
    readonly stt?: SpeechToText;
  }

  function setUp({ settings = {}, stt }: Setup = {}) {
    const clock = new FakeClock();
    const host = new RecordingHost();
    const log = new RecordingLog();
    const runs: unknown[] = [];
    let ids = 0;
    const runner: ToolRunner = {
      list: () =>
        persona.tools.map(({ name, description, input_schema: inputSchema, speech }) => ({
          name,
          description,
          inputSchema,
          speech,
        })),
      run: async (name, input) => {
        runs.push([name, input]);
        return { ok: true, data: { state: 'sent' }, error: null, variables: { order: 'sent' } };
      },
    };
    const server_ = { baseUrl: server.url, apiKey: null, model: 'm-1' };
    const limits = { timeoutMs: 5000, maxRetries: 0, maxTokens: 200 };
    const agent = createAgents({
      pathways: () => undefined,
      organization: () => undefined,
      models: createModels(
        { agent: server_, turbo: server_, concurrency: 4 },
        { clock, random: () => 0.5, limits },
      ),
      tools: () => runner,
      tts: countingVoice,
      stt: stt ?? null,
      voices: loudVoices,
      clock,
      log,
      newId: () => `id-${++ids}`,
      allowedTargets: () => parseNetworks([]),
    }).create({ ...persona, ...settings }, call, host);
    return { agent, clock, host, runs };
  }

  it('speaks the first sentence while the model is still generating the second', async () => {
    const rest = Promise.withResolvers<void>();
    server.record({ text: ['Good day. ', rest.promise, 'I am Ada.'] });
    const { agent, clock, host } = setUp({ settings: { first_sentence: null } });
    await agent.prepare();
    agent.start();
    await until(() => host.lines('assistant').length === 1);
    expect(await takeFrames(agent, 20)).toBe('Good day.'.length);
    rest.resolve();
    await until(() => host.lines('assistant').length === 2);
    expect(await takeFrames(agent, 20)).toBe('I am Ada.'.length);
    expect(host.entries.at(-1)).toMatchObject({ text: 'I am Ada.', node_id: null, node_name: null });
    agent.close('over');
    expect(clock.pending).toBe(0);
  });

  it('uses a tool, speaks its result, and transfers the caller', async () => {
    server.record(
      { when: ['where is my order'], calls: [{ name: 'find_order', input: { id: 'A1' } }] },
      { when: ['sent'], text: ['It was sent. ', 'It comes soon.'] },
      { text: ['I connect you.'], calls: [{ name: 'transfer_call', input: { to: 'default' } }] },
    );
    const { agent, host, runs } = setUp({ stt: says('where is my order', 'a person please') });
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 10);
    speak(agent);
    await until(() => host.lines('assistant').length === 4);
    expect(runs).toEqual([['find_order', { id: 'A1' }]]);
    expect(host.learned).toEqual({ order: 'sent' });
    await takeFrames(agent, 60);
    speak(agent);
    await until(() => host.lines('assistant').length === 5);
    expect(host.transfers).toEqual([]);
    await takeFrames(agent, 20);
    await until(() => host.transfers.length === 1);
    expect(host.transfers).toEqual([{ target: '+14155550111', method: 'bridge', consult: null }]);
    expect(host.lines('user', 'assistant', 'agent-action')).toEqual([
      'assistant: Hello.',
      'user: where is my order',
      'assistant: One second.',
      'agent-action: the tool "find_order" succeeded',
      'agent-action: order = sent',
      'assistant: It was sent.',
      'assistant: It comes soon.',
      'user: a person please',
      'assistant: I connect you.',
      'agent-action: transfer to "default"',
    ]);
    agent.close('transferred');
  });

  it('stops speaking and cancels the model request when the caller speaks', async () => {
    const never = Promise.withResolvers<void>();
    server.record(
      { when: ['tell me all'], text: ['This is a long story. ', never.promise] },
      { when: ['"This is a"', 'stop it'], text: ['All right.'] },
    );
    const { agent, host } = setUp({ stt: says('tell me all', 'stop it') });
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 10);
    speak(agent);
    await until(() => host.lines('assistant').length === 2);
    expect(await takeFrames(agent, 9)).toBe(9);
    hear(agent, 25);
    expect(await takeFrames(agent, 3)).toBe(0);
    await until(() => server.aborted === 1);
    hear(agent, 36, 0);
    await until(() => host.lines('assistant').length === 3);
    expect(host.lines('user', 'assistant').slice(2)).toEqual([
      'assistant: This is a',
      'user: stop it',
      'assistant: All right.',
    ]);
    expect(host.lines('agent-action')).toContain('agent-action: Interrupted by the caller');
    agent.close('over');
    never.resolve();
  });

  it('asks the model in the pause, and takes its answer when the caller has finished', async () => {
    server.record({ when: ['Where is my order?'], text: ['It was sent.'] });
    const { agent, host } = setUp({ stt: says('Where is my order?') });
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 10);
    hear(agent, 10);
    hear(agent, 13, 0);
    await settle();
    hear(agent, 1, 0);
    await server.asked(1);
    expect(host.lines('user')).toEqual([]);
    hear(agent, 20, 0);
    await until(() => host.lines('assistant').length === 2);
    expect(host.lines('user', 'assistant').slice(1)).toEqual([
      'user: Where is my order?',
      'assistant: It was sent.',
    ]);
    expect(server.requests).toHaveLength(1);
    agent.close('over');
  });

  it('throws the answer away when the caller goes on, and runs no tool for it', async () => {
    const order = { name: 'find_order', input: { id: 'A1' } };
    server.record(
      { when: ['"where is my order"'], calls: [order] },
      { when: ['"where is my order, the second one"'], calls: [order] },
      { when: ['sent'], text: ['It was sent.'] },
    );
    const { agent, host, runs } = setUp({
      stt: says('where is my order', 'where is my order, the second one'),
    });
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 10);
    hear(agent, 10);
    hear(agent, 13, 0);
    await settle();
    hear(agent, 1, 0);
    await server.asked(1);
    // The answer is there, and its tool waits.
    await settle(50);
    expect(runs).toEqual([]);
    hear(agent, 10);
    hear(agent, 36, 0);
    await until(() => host.lines('assistant').length === 3);
    expect(runs).toEqual([['find_order', { id: 'A1' }]]);
    expect(host.lines('user', 'assistant').slice(1)).toEqual([
      'user: where is my order, the second one',
      'assistant: One second.',
      'assistant: It was sent.',
    ]);
    agent.close('over');
  });

  it('apologizes once for a model that is silent for too long, then fails', async () => {
    const never = Promise.withResolvers<void>();
    server.record({ delay: never.promise }, { delay: never.promise });
    const { agent, clock, host } = setUp({ stt: says('one', 'two') });
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 10);
    speak(agent);
    await server.asked(1);
    clock.advance(5000);
    await until(() => host.lines('assistant').length === 2);
    expect(host.lines('assistant')[1]).toContain('Could you say it again');
    expect(host.failures).toEqual([]);
    await takeFrames(agent, 80);
    speak(agent);
    await server.asked(2);
    clock.advance(5000);
    await until(() => host.failures.length === 1);
    expect(host.failures[0]).toMatchObject({ name: 'ModelUnavailable', failure: 'timeout' });
    agent.close('failed');
    expect(clock.pending).toBe(0);
    never.resolve();
  });

  it('cannot take the call when the model has no first words for it', async () => {
    server.record({ status: 400 });
    const { agent } = setUp({ settings: { first_sentence: null } });
    await expect(agent.prepare()).rejects.toMatchObject({ name: 'ModelUnavailable' });
  });

  it('aborts its request when the call is over', async () => {
    const never = Promise.withResolvers<void>();
    server.record({ delay: never.promise });
    const { agent, clock, host } = setUp({ stt: says('hello') });
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 10);
    speak(agent);
    await server.asked(1);
    agent.close('the caller hung up');
    await until(() => server.aborted === 1);
    expect([clock.pending, host.failures, host.hangups]).toEqual([0, [], []]);
    never.resolve();
  });
});

describe('a task without a language model', () => {
  const settings = {
    kind: 'task',
    task: 'Say "How can I help you?" Our shop closes at six.',
    ...manner,
  } satisfies AgentSettings;

  it('says so, answers what it can, and hangs up on a goodbye', async () => {
    const clock = new FakeClock();
    const host = new RecordingHost();
    let ids = 0;
    const agent = createAgents({
      pathways: () => undefined,
      organization: () => undefined,
      models: ruleModels,
      tts: countingVoice,
      voices: loudVoices,
      stt: says('when does the shop close', 'thank you goodbye'),
      clock,
      log: new RecordingLog(),
      newId: () => `id-${++ids}`,
      allowedTargets: () => parseNetworks([]),
    }).create(settings, call, host);
    await agent.prepare();
    agent.start();
    await takeFrames(agent, 30);
    speak(agent);
    await takeFrames(agent, 40);
    speak(agent);
    await takeFrames(agent, 20);
    clock.advance(200);
    await until(() => host.hangups.length === 1);
    expect(host.entries[0]?.text).toContain('No language model is configured');
    expect(host.lines('user', 'assistant')).toEqual([
      'assistant: How can I help you?',
      'user: when does the shop close',
      'assistant: Our shop closes at six.',
      'user: thank you goodbye',
      'assistant: Goodbye.',
    ]);
    agent.close('over');
    expect(clock.pending).toBe(0);
  });
});
