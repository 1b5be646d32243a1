/** What callers hear while a webhook runs, what is made of their words meanwhile, and what is spoken ahead. */
import { afterEach, describe, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { countingVoice, settle, takeFrames } from '../../test/kit/edge/agent.ts';
import { edge, hear, menu, node, setUp } from '../../test/kit/edge/pathway-agent.ts';

const filler = { text: 'One moment please', afterMs: 2000 };
const config = (data: object) => ({
  ...menu,
  nodes: [
    node('ask', 'Webhook', { isStart: true, url: 'https://hooks.example.com', ...data }),
    node('bye', 'End Call', { text: 'Found.' }),
  ],
  edges: [edge('ask', 'bye', 'success')],
});

const open: { close(): void }[] = [];
afterEach(() => {
  for (const part of open.splice(0)) part.close();
});

async function asked(data: object, more: { tts?: TextToSpeech } = {}) {
  const answer = Promise.withResolvers<WebhookResult>();
  const parts = setUp({ config: config(data), webhook: () => answer.promise, ...more });
  open.push({ close: () => parts.agent.close('over') });
  await parts.begin();
  return {
    ...parts,
    lines: () => parts.host.lines('assistant'),
    answer: async () => {
      answer.resolve({ status: 200, body: null, error: null });
      await settle();
    },
  };
}

describe('while a webhook runs', () => {
  it('the filler is said after its silence, and ends with the answer', async () => {
    const { agent, answer, lines, pass } = await asked({ filler });
    await pass(1999);
    expect(await takeFrames(agent, 3)).toBe(0);
    await pass(1);
    expect(await takeFrames(agent, 11)).toBe(11);
    expect(lines()).toEqual(['assistant: One moment please']);
    await answer();
    expect(lines()).toEqual(['assistant: One moment', 'assistant: Found.']);
    expect(await takeFrames(agent, 50)).toBe('Found.'.length);
  });

  it('the filler waits for the words of the node', async () => {
    const { agent, lines, pass } = await asked({ text: 'Let me see', filler: { ...filler, afterMs: 100 } });
    await pass(5000);
    expect(lines()).toEqual(['assistant: Let me see']);
    await takeFrames(agent, 12);
    await pass(100);
    expect(lines()).toEqual(['assistant: Let me see', 'assistant: One moment please']);
  });

  it('nothing is said when the answer comes in time, or without a filler', async () => {
    const quick = await asked({ filler });
    await quick.answer();
    await quick.pass(10_000);
    expect(quick.lines()).toEqual(['assistant: Found.']);
    const without = await asked({});
    await without.pass(10_000);
    expect(without.lines()).toEqual([]);
  });

  it('a filler that cannot be spoken is silence: the answer comes all the same', async () => {
    const tts: TextToSpeech = {
      ...countingVoice,
      synthesize: async (text, options) => {
        if (text === filler.text) throw new Error('the text is too long');
        return countingVoice.synthesize(text, options);
      },
    };
    const { answer, lines, pass, host } = await asked({ filler }, { tts });
    await pass(10_000);
    expect(lines()).toEqual([]);
    expect(host.lines('agent-action').join()).toContain('Could not be spoken');
    await answer();
    expect(lines()).toEqual(['assistant: Found.']);
  });

  it('a filler whose sound comes later than the answer is not said', async () => {
    const made = Promise.withResolvers<void>();
    const tts: TextToSpeech = {
      ...countingVoice,
      synthesize: async (text, options) => {
        if (text === filler.text) await made.promise;
        return countingVoice.synthesize(text, options);
      },
    };
    const { agent, answer, lines, pass } = await asked({ filler }, { tts });
    await pass(2000);
    await answer();
    made.resolve();
    await settle();
    expect(lines()).toEqual(['assistant: Found.']);
    expect(await takeFrames(agent, 50)).toBe('Found.'.length);
  });

  it('a filler whose end is still being made when the answer comes was stopped, and has not failed', async () => {
    const tts: TextToSpeech = {
      ...countingVoice,
      stream: async function* (text, options, signal) {
        const samples = await countingVoice.synthesize(text, options);
        yield samples.subarray(0, samples.length / 2);
        if (text === filler.text)
          await new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
        yield samples.subarray(samples.length / 2);
      },
    };
    const { agent, answer, host, lines, pass } = await asked({ filler }, { tts });
    await pass(2000);
    expect(await takeFrames(agent, 4)).toBe(4);
    await answer();
    expect(lines().at(-1)).toBe('assistant: Found.');
    expect(host.lines('agent-action').join()).not.toContain('could not be spoken');
  });

  it('a caller who hangs up ends the filler', async () => {
    const { agent, clock, lines, pass } = await asked({ filler });
    await pass(2000);
    agent.close('the caller has hung up');
    await pass(10_000);
    expect(clock.pending).toBe(0);
    expect(lines()).toEqual(['assistant: One moment please']);
  });
});

describe('what a caller says while a webhook runs', () => {
  function scene(texts: string[]) {
    const answer = Promise.withResolvers<WebhookResult>();
    const heard: string[] = [];
    const parts = setUp({
      stt: { transcribe: async () => texts.shift() ?? 'nothing more' },
      understanding: {
        ...ruleEngine,
        chooseEdge: async ({ text }) => {
          heard.push(text);
          return { choice: null, reason: 'the test wants none' };
        },
      },
      webhook: () => answer.promise,
      config: {
        ...config({}),
        nodes: [
          node('ask', 'Webhook', { isStart: true, url: 'https://hooks.example.com' }),
          node('more', 'Default', { text: 'What else?' }),
          node('bye', 'End Call', { text: 'Bye.' }),
        ],
        edges: [edge('ask', 'more', 'success'), edge('more', 'bye', 'no'), edge('more', 'ask', 'again')],
      },
    });
    const { agent } = parts;
    const speak = () => hear(agent.write, 3000, 30);
    const pause = async () => {
      hear(agent.write, 0, 100);
      await settle();
    };
    return {
      ...parts,
      heard,
      speak,
      pause,
      say: () => {
        speak();
        return pause();
      },
      answered: async () => {
        answer.resolve({ status: 200, body: null, error: null });
        await settle();
        await takeFrames(agent, 100);
      },
    };
  }

  it('in several turns is answered once', async () => {
    const { agent, answered, begin, heard, host, say } = scene(['I moved', '', 'last week', 'to Bern']);
    await begin();
    for (let turn = 0; turn < 4; turn++) await say();
    await answered();
    expect(heard).toEqual(['I moved last week to Bern']);
    expect(host.lines('user')).toEqual(['user: I moved last week to Bern']);
    await say();
    expect(heard).toEqual(['I moved last week to Bern', 'nothing more']);
    agent.close('over');
  });

  it.each([
    ['to Bern', 'I moved to Bern'],
    ['', 'I moved'],
  ])('and goes on to say when it has answered, %j, is answered with that', async (rest, all) => {
    const { agent, answered, begin, heard, pause, say, speak } = scene(['I moved', rest]);
    await begin();
    await say();
    speak();
    await answered();
    expect(heard).toEqual([]);
    await pause();
    expect(heard).toEqual([all]);
    agent.close('over');
  });
});

it('fixed texts of the next nodes are spoken ahead, a few of them', async () => {
  const texts: string[] = [];
  const tts: TextToSpeech = {
    ...countingVoice,
    premake: async (text) => {
      texts.push(text);
    },
  };
  const next = (id: string, text: string) => node(id, 'End Call', { text });
  const nodes = [
    next('a', 'Balance {{amount}}'),
    next('b', 'Goodbye.'),
    next('c', 'x'.repeat(501)),
    ...['d', 'e', 'f', 'g'].map((id) => next(id, `Text ${id} of SQL.`)),
  ];
  const { agent, begin } = setUp({
    tts,
    pronunciations: [{ text: 'SQL', say: 'sequel' }],
    config: {
      ...menu,
      nodes: [node('menu', 'Default', { isStart: true, text: 'Menu.' }), ...nodes],
      edges: nodes.map(({ id }, index) => edge('menu', id, `press ${index}`)),
    },
  });
  await begin();
  expect(texts).toEqual(['Goodbye.', 'Text d of sequel.', 'Text e of sequel.', 'Text f of sequel.']);
  agent.close('over');
});
