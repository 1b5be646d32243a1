import { afterEach, expect, it } from 'vitest';
import { GeminiLiveServer } from '../../../test/kit/speech/gemini-live-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function begun(
  answers: GeminiLiveServer['answers'],
  setup: ConstructorParameters<typeof RealtimeScene>[2] = {},
) {
  const lab = await new GeminiLiveServer().listen();
  open.push(lab);
  lab.answers.push(...answers);
  const scene = new RealtimeScene('gemini', lab, setup);
  open.push({ close: () => scene.agent.close('the test is over') });
  await scene.begin();
  return { lab, scene };
}

it('sets up a session, speaks first, hears and answers', async () => {
  const { lab, scene } = await begun([{ text: 'Hello' }, { text: 'Good' }], {
    settings: { first_sentence: 'Welcome.', voice: 'Puck', temperature: 0.2 },
  });
  await scene.until('the first answer', () => scene.lines.length === 1);
  expect(scene.agent.sampleRate).toBe(16_000);
  expect(scene.playAll()).toBe(100);
  scene.say('yes please');
  await scene.until('an answer', () => scene.lines.length === 3);
  expect(scene.lines).toEqual(['assistant: Hello', 'user: yes please', 'assistant: Good']);
  expect(lab.told).toEqual(['user: [System] The call begins. Say exactly this: Welcome.']);
  expect(lab.setup).toMatchObject({
    model: 'models/talker',
    generationConfig: {
      temperature: 0.2,
      speechConfig: { languageCode: 'en-US', voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
    },
    realtimeInputConfig: { activityHandling: 'START_OF_ACTIVITY_INTERRUPTS' },
  });
  expect(lab.violations).toEqual([]);
});

it('stops when the caller interrupts; the transcript has what was heard', async () => {
  const { scene } = await begun([{ text: 'We have a table', unfinished: true }, { text: 'Yes' }]);
  // The resampler keeps about a millisecond.
  await scene.until('the sound', () => scene.agent.queuedMs > 290);
  scene.play(8);
  scene.say('please');
  await scene.until('the next answer', () => scene.host.lines('assistant').length === 2);
  expect(scene.playAll()).toBe(60);
  expect(scene.host.lines('assistant')).toEqual(['assistant: We have', 'assistant: Yes']);
});

it('puts words that come after the end of an answer where they belong', async () => {
  const { lab, scene } = await begun([
    { text: 'We have' },
    { text: 'Yes', unfinished: true },
    { text: 'Good' },
  ]);
  const words = (text: string) => lab.emit({ serverContent: { outputTranscription: { text } } });
  await scene.until('the first answer', () => scene.lines.length === 1);
  scene.playAll();
  words(' a');
  words(' table.');
  scene.say('please');
  await scene.until('the next answer', () => scene.agent.queuedMs > 50);
  expect(scene.lines).toEqual(['assistant: We have a table.', 'user: yes please']);

  scene.play(3);
  lab.emit({ serverContent: { interrupted: true } });
  lab.emit({ serverContent: { inputTranscription: { text: 'no' } } });
  words(' you will');
  lab.emit({ serverContent: { turnComplete: true } });
  scene.say('please');
  await scene.until('the last answer', () => scene.lines.includes('assistant: Good'));
  expect(scene.lines.slice(2)).toEqual(['assistant: Yes', 'user: no', 'user: yes please', 'assistant: Good']);
});

it('runs tools, and forgets those that the server takes back', async () => {
  const signals: AbortSignal[] = [];
  const spec = { name: 'book', description: 'Books', inputSchema: { type: 'object' }, speech: null };
  const result = { ok: true, data: 'done', error: null, variables: {} };
  const { lab, scene } = await begun(
    [{ calls: [{ id: 'c1', name: 'book', input: {} }] }, { calls: [{ id: 'c2', name: 'book', input: {} }] }],
    {
      tools: {
        list: () => [spec],
        run: async (_name, _input, signal) => {
          signals.push(signal);
          return signals.length === 1 ? result : new Promise(() => undefined);
        },
      },
    },
  );
  await scene.until('the second call', () => signals.length === 2);
  expect(lab.outputs).toEqual([{ call: 'c1', output: { ok: true, data: 'done', error: null } }]);
  lab.emit({ toolCallCancellation: { ids: ['c2'] } });
  await scene.until('the end of the second', () => signals[1]?.aborted === true);
  expect(lab.violations).toEqual([]);
});

it('continues the session on a new connection before the server ends it', async () => {
  const { lab, scene } = await begun([{ text: 'Hello' }, { text: 'Good' }], { limits: { youngestMs: 0 } });
  await scene.until('the first answer', () => scene.lines.length === 1);
  lab.emit({ goAway: { timeLeft: '10s' } });
  await scene.until('the next session', () => lab.resumed.length === 1 && lab.open === 1);
  expect(lab.resumed).toEqual(['handle-1']);
  expect(scene.playAll()).toBe(100);
  scene.say('yes');
  await scene.until('an answer', () => scene.lines.length === 3);
  expect(lab.told).toHaveLength(1);
  expect(lab.violations).toEqual([]);
});

it('does not renew a session that has just begun, and connects to a server that ends all of them a few times', async () => {
  const { lab, scene } = await begun([{ text: 'Hello' }]);
  await scene.until('the first answer', () => scene.lines.length === 1);
  for (let i = 0; i < 50; i++) lab.emit({ goAway: { timeLeft: '1s' } });
  lab.emit({ serverContent: { inputTranscription: { text: 'still here' }, turnComplete: true } });
  await scene.until('the words after it', () => scene.lines.includes('user: still here'));
  expect(lab.connections).toBe(1);
  const warnings = scene.log.warnings.map(({ message }) => message);
  expect(warnings.filter((message) => /has just begun/.test(message))).toHaveLength(1);

  lab.cut();
  await scene.until('the end', () => {
    if (lab.open > 0) {
      lab.emit({ goAway: { timeLeft: '1s' } });
      lab.cut();
    } else scene.clock.advance(50);
    if (scene.host.lines('assistant').length > 1) scene.playAll();
    return scene.host.failures.length > 0;
  });
  // Pauses of 0.25, 0.5, 1, 2 and 4 s, within 8 s.
  expect(lab.connections).toBeLessThanOrEqual(6);
});
