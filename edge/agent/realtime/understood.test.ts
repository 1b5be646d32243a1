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

it.each([
  ['openai', { type: 'response.output_audio.delta', delta: null }, '/delta must be string'],
  ['gemini', { serverContent: 'Hello' }, '/serverContent must be object'],
  ['elevenlabs', { type: 'audio', audio_event: 7 }, '/audio_event must be object'],
] as const)(
  'a message that %s does not allow is left out, with a warning, and the session goes on',
  async (protocol, wrong, why) => {
    const lab = await new servers[protocol]().listen();
    open.push(lab);
    lab.answers.push({ text: 'Hello' }, { text: 'Good' });
    const scene = new RealtimeScene(protocol, lab);
    open.push({ close: () => scene.agent.close('the test is over') });
    await scene.begin();
    await scene.until('the first answer', () => scene.lines.length === 1);
    scene.playAll();
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
