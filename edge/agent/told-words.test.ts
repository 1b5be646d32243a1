/** The agent's own words in what a model gets: those that the caller has heard, also when a voice fails. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { createModels } from '#shared/models/models.ts';
import { SpeechError, type TextToSpeech } from '#shared/models/speech.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { loudVoices } from '../../test/kit/ears/loud-voices.ts';
import {
  ada,
  call,
  countingVoice,
  RecordingHost,
  RecordingLog,
  settle,
  takeFrames,
} from '../../test/kit/edge/agent.ts';
import { ModelServer } from '../../test/kit/fakes/model-server.ts';
import type { AgentLeg } from '../call/ports/agents.ts';
import { createAgents } from './agents.ts';

let server: ModelServer;
beforeEach(async () => {
  server = await ModelServer.start();
});
afterEach(() => server.close());

async function talking(tts: TextToSpeech, ...words: string[]) {
  const clock = new FakeClock();
  const host = new RecordingHost();
  let ids = 0;
  const target = { baseUrl: server.url, apiKey: null, model: 'm-1' };
  const limits = { timeoutMs: 5000, maxRetries: 0, maxTokens: 200 };
  const agent = createAgents({
    pathways: () => undefined,
    organization: () => undefined,
    models: createModels(
      { agent: target, turbo: target, concurrency: 4 },
      { clock, random: () => 0.5, limits },
    ),
    tools: () => ({ list: () => [], run: () => Promise.reject(new Error('there is no tool')) }),
    tts,
    stt: { transcribe: async () => words.shift() ?? '' },
    voices: loudVoices,
    clock,
    log: new RecordingLog(),
    newId: () => `id-${++ids}`,
    allowedTargets: () => parseNetworks([]),
  }).create(ada, call, host);
  await agent.prepare();
  agent.start();
  await takeFrames(agent, 10);
  return { agent, host };
}

function hear(agent: AgentLeg, frames: number, level = 3000): void {
  const frame = new Int16Array(160).map((_, i) => (i % 8 < 4 ? level : -level));
  for (let i = 0; i < frames; i++) agent.write?.(frame);
}

function speak(agent: AgentLeg): void {
  hear(agent, 10);
  hear(agent, 36, 0);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

/** What the last request says that the agent has said. */
const told = () =>
  server.requests
    .at(-1)
    ?.messages.filter(({ role }) => role === 'assistant')
    .map(({ content }) => content);

/** Of a character, at 8 kHz. */
const usualSamples = 520;

/** A voice that fails at some texts: before the first sound, or after half of it. */
function failing(texts: Readonly<Record<string, 'unspoken' | 'half'>>): TextToSpeech {
  return {
    ...countingVoice,
    stream: async function* (text, options) {
      const how = texts[text];
      if (how === 'unspoken') throw new SpeechError('overloaded');
      if (how === undefined) yield await countingVoice.synthesize(text, options);
      else {
        yield new Int16Array((text.length / 2) * usualSamples).fill(1000);
        throw new SpeechError('closed the connection');
      }
    },
  };
}

it('an answer that is asked for in the pause after an interruption is one to the words that were heard', async () => {
  const never = Promise.withResolvers<void>();
  server.record({ text: ['This is a long story. ', never.promise] }, { text: ['All right.'] });
  const { agent, host } = await talking(countingVoice, 'tell me all', 'stop it');
  speak(agent);
  await until(() => host.lines('assistant').length === 2);
  expect(await takeFrames(agent, 9)).toBe(9);
  hear(agent, 25);
  await until(() => server.aborted === 1);
  await settle();
  hear(agent, 13, 0);
  await settle();
  hear(agent, 1, 0);
  await server.asked(2);
  expect(host.lines('user')).toEqual(['user: tell me all']);
  expect(told()).toEqual(['Hello.', 'This is a']);
  hear(agent, 20, 0);
  await until(() => host.lines('assistant').length === 3);
  agent.close('over');
  never.resolve();
});

it('sentences that could not be spoken are not among its words, and those after them are', async () => {
  server.record(
    { text: ['The first is red. ', 'The second is blue. ', 'The third is green.'] },
    { text: ['Yes.'] },
  );
  const { agent, host } = await talking(
    failing({ 'The second is blue.': 'unspoken' }),
    'list them',
    'and two',
  );
  speak(agent);
  await until(() => host.lines('assistant').length === 3);
  await takeFrames(agent, 40);
  speak(agent);
  await server.asked(2);
  expect(told()).toEqual(['Hello.', 'The first is red. The third is green.']);
  expect(host.lines('agent-action')).toContain(
    'agent-action: Could not be spoken (text-to-speech failed): The second is blue.',
  );
  await until(() => host.lines('assistant').length === 4);
  agent.close('over');
});

it('of a text that fails in its midst it has said what sounded, in the transcript and for the model', async () => {
  const text = 'The first code is seven and the second code is nine.';
  server.record({ text: [text] }, { text: ['Yes.'] });
  const { agent, host } = await talking(failing({ [text]: 'half' }), 'the codes', 'and then');
  speak(agent);
  await until(() => host.lines('agent-action').some((line) => line.includes('Its end could not be spoken')));
  await takeFrames(agent, 100);
  speak(agent);
  await server.asked(2);
  const heard = told()?.[1] ?? '';
  expect(heard).toMatch(/^The first code is/);
  expect(heard).not.toContain('nine');
  expect(host.entries.findLast(({ text: line }) => line.startsWith('The first'))).toMatchObject({
    text: heard,
    fact: { kind: 'cut_off', said: text, heard },
  });
  await until(() => host.lines('assistant').includes('assistant: Yes.'));
  agent.close('over');
});

it('of a text that fails in its midst and is interrupted before that it has said less', async () => {
  const text = 'The first code is seven and the second code is nine.';
  server.record({ text: [text] }, { text: ['Yes.'] });
  const { agent, host } = await talking(failing({ [text]: 'half' }), 'the codes', 'stop');
  speak(agent);
  await until(() => host.lines('agent-action').some((line) => line.includes('Its end could not be spoken')));
  expect(await takeFrames(agent, 40)).toBe(40);
  hear(agent, 25);
  hear(agent, 36, 0);
  await server.asked(2);
  expect(told()).toEqual(['Hello.', 'The first']);
  await until(() => host.lines('assistant').includes('assistant: Yes.'));
  agent.close('over');
});
