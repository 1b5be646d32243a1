import { afterEach, expect, it } from 'vitest';
import { ElevenLabsAgentsServer } from '../../../test/kit/speech/elevenlabs-agents-server.ts';
import { GeminiLiveServer } from '../../../test/kit/speech/gemini-live-server.ts';
import { OpenAiRealtimeServer } from '../../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const servers = {
  openai: OpenAiRealtimeServer,
  gemini: GeminiLiveServer,
  elevenlabs: ElevenLabsAgentsServer,
};

/** After the first of two answers. */
async function talking(protocol: keyof typeof servers) {
  const lab = await new servers[protocol]().listen();
  open.push(lab);
  lab.answers.push({ text: 'Hello' }, { text: 'Good' });
  const scene = new RealtimeScene(protocol, lab);
  open.push({ close: () => scene.agent.close('the test is over') });
  await scene.begin();
  await scene.until('the first answer', () => scene.lines.length === 1);
  scene.playAll();
  return { lab, scene };
}

it.each([
  ['openai', { type: 'response.output_audio.delta', delta: 7 }, '/delta must be string'],
  ['gemini', { serverContent: 'Hello' }, '/serverContent must be object'],
  ['elevenlabs', { type: 'audio', audio_event: 7 }, '/audio_event must be object'],
] as const)(
  'a message that %s does not allow is left out, with a warning, and the session goes on',
  async (protocol, wrong, why) => {
    const { lab, scene } = await talking(protocol);
    lab.emit(wrong);
    await scene.until('a warning', () => scene.log.warnings.length > 0);
    expect(scene.log.warnings).toEqual([
      {
        fields: { problem: `a message was left out: ${why}` },
        message: 'a problem in the session with the model',
      },
    ]);
    scene.say('yes');
    await scene.until('an answer', () => scene.lines.includes('assistant: Good'));
    expect(scene.host.failures).toEqual([]);
  },
);

it.each([
  ['openai', { type: 'response.created', item_id: null, delta: null, transcript: null, error: null }],
  ['gemini', { setupComplete: null, serverContent: { modelTurn: null, interrupted: null }, goAway: null }],
  ['elevenlabs', { type: 'ping', ping_event: { event_id: 1, ping_ms: null }, error_event: null }],
] as const)(
  'a message of %s whose fields are null is understood as one without them',
  async (protocol, message) => {
    const { lab, scene } = await talking(protocol);
    lab.emit(message);
    scene.say('yes');
    await scene.until('an answer', () => scene.lines.includes('assistant: Good'));
    expect(scene.log.warnings).toEqual([]);
  },
);

it.each([
  ['openai', (sound: string) => ({ type: 'response.output_audio.delta', item_id: 'x', delta: sound })],
  [
    'gemini',
    (sound: string) => ({
      serverContent: {
        modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: sound } }] },
      },
    }),
  ],
  [
    'elevenlabs',
    (sound: string) => ({ type: 'audio', audio_event: { audio_base_64: sound, event_id: 1000 } }),
  ],
] as const)('sound of %s that is not base64 is left out, with a warning', async (protocol, message) => {
  const { lab, scene } = await talking(protocol);
  lab.emit(message('AAAA!AAA'));
  await scene.until('a warning', () => scene.log.warnings.length > 0);
  expect(scene.log.warnings.map(({ fields }) => fields)).toEqual([
    { problem: 'sound was left out: it is not base64' },
  ]);
  expect(scene.host.failures).toEqual([]);
});
