import { afterEach, expect, it } from 'vitest';
import { ElevenLabsAgentsServer } from '../../../test/kit/speech/elevenlabs-agents-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function made(
  server: Partial<Pick<ElevenLabsAgentsServer, 'formats' | 'overridable'>>,
  answers: ElevenLabsAgentsServer['answers'],
  setup: ConstructorParameters<typeof RealtimeScene>[2] = {},
) {
  const lab = await Object.assign(new ElevenLabsAgentsServer(), server).listen();
  open.push(lab);
  lab.answers.push(...answers);
  const scene = new RealtimeScene('elevenlabs', lab, setup);
  open.push({ close: () => scene.agent.close('the test is over') });
  return { lab, scene };
}

async function begun(...[server, answers, setup]: Parameters<typeof made>) {
  const { lab, scene } = await made(server, answers, setup);
  await scene.begin();
  return { lab, scene };
}

it.each([
  ['ulaw_8000', 'ulaw_8000', 8000],
  ['pcm_16000', 'pcm_16000', 16_000],
  ['pcm_8000', 'pcm_24000', 16_000],
])(
  'sets up a session with %s in and %s out, speaks first, hears and answers',
  async (input, output, rate) => {
    const { lab, scene } = await begun(
      { formats: { input, output } },
      [{ text: 'Hello' }, { text: 'Good' }],
      {
        settings: { first_sentence: 'Welcome.', voice: 'v1', language: 'de-AT' },
      },
    );
    await scene.until('the first answer', () => scene.lines.length === 1 && scene.agent.queuedMs > 98);
    expect(scene.agent.sampleRate).toBe(rate);
    expect(scene.playAll()).toBe(100);
    scene.say('yes please');
    await scene.until('an answer', () => scene.lines.length === 3);
    expect(scene.lines).toEqual(['assistant: Hello', 'user: yes please', 'assistant: Good']);
    expect(lab.told).toEqual(['user_message: [System] The call begins. Say exactly this: Welcome.']);
    expect(lab.override).toEqual({
      agent: {
        prompt: { prompt: expect.stringMatching(/Book tables for Ada\.$/) },
        first_message: '',
        language: 'de',
      },
      tts: { voice_id: 'v1' },
    });
    expect(lab.violations).toEqual([]);
  },
);

it('stops when the caller interrupts, late sound too; the transcript has what was heard', async () => {
  const { scene } = await begun({}, [{ text: 'We have a table', unfinished: true }, { text: 'Yes' }]);
  await scene.until('the sound', () => scene.agent.queuedMs === 300);
  scene.play(8);
  scene.say('please');
  await scene.until('the next answer', () => scene.agent.queuedMs === 60);
  expect(scene.playAll()).toBe(60);
  expect(scene.host.lines('assistant').at(-1)).toBe('assistant: Yes');
  expect(scene.host.lines('assistant')).toContain('assistant: We have');
});

it('runs tools, says which failed, and answers pings', async () => {
  const spec = { name: 'book', description: 'Books', inputSchema: { type: 'object' }, speech: null };
  const done = { ok: true, data: 'done', error: null, variables: {} };
  const failed = { ok: false, data: null, error: 'full', variables: {} };
  const results = [done, failed];
  const { lab, scene } = await begun(
    {},
    [
      { calls: [{ id: 'c1', name: 'book', input: { seats: 2 } }] },
      { calls: [{ id: 'c2', name: 'book', input: {} }] },
      { text: 'Sorry' },
    ],
    { tools: { list: () => [spec], run: async () => results.shift() ?? failed } },
  );
  await scene.until('the answer', () => scene.lines.includes('assistant: Sorry'));
  expect(lab.outputs).toEqual([
    { call: 'c1', output: { ok: true, data: 'done', error: null }, failed: false },
    { call: 'c2', output: { ok: false, data: null, error: 'full' }, failed: true },
  ]);
  lab.emit({ type: 'ping', ping_event: { event_id: 7, ping_ms: null } });
  await scene.until('the pong', () => lab.pongs.length > 0);
  expect(lab.pongs).toEqual([7]);
  expect(lab.violations).toEqual([]);
});

it('tells the next session the conversation so far', async () => {
  const { lab, scene } = await begun({}, [{ text: 'Hello' }, { text: 'Good' }]);
  await scene.until('the first answer', () => scene.lines.length === 1);
  lab.cut();
  await scene.until('the next session', () => {
    scene.clock.advance(20);
    return lab.told.length === 2;
  });
  expect(lab.told[1]).toBe('contextual_update: The conversation so far:\nYou: Hello');
  scene.say('yes');
  await scene.until('an answer', () => scene.lines.length === 3);
  expect(scene.lines.at(-1)).toBe('assistant: Good');
  expect(lab.violations).toEqual([]);
});

it.each([
  [{ overridable: false }, "rejected the session: Override for field 'prompt' is not allowed by config."],
  [
    { formats: { input: 'ulaw_8000', output: 'pcm_16000' } },
    'the agent has the audio formats ulaw_8000 for the caller and pcm_16000 for itself',
  ],
])('says why an agent cannot be used: %o', async (server, why) => {
  const { scene } = await made(server, []);
  await expect(scene.begin()).rejects.toThrow(why);
});
