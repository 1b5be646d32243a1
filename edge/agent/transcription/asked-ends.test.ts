/** Ends of turns that a server of transcriptions does not answer, because there is nothing to tell of them. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { FluxServer } from '../../../test/kit/speech/flux-server.ts';
import { LiveScene, providerAt } from '../../../test/kit/speech/live-scene.ts';
import { OpenAiTranscriptionServer } from '../../../test/kit/speech/openai-transcription-server.ts';
import { quiet } from '../../../test/kit/speech/words.ts';
import { deepgram } from './deepgram.ts';
import { deepgramFlux } from './deepgram-flux.ts';
import { openAiRealtime } from './openai-realtime.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const kinds = [
  {
    name: 'Deepgram',
    protocol: deepgram,
    model: 'nova-3',
    make: (clock: FakeClock) => {
      const server = new DeepgramServer(clock);
      server.skipsEmptyFinalize = true;
      return server;
    },
  },
  { name: 'Deepgram Flux', protocol: deepgramFlux, model: 'flux-general-en', make: () => new FluxServer() },
  {
    name: 'OpenAI Realtime',
    protocol: openAiRealtime,
    model: 'gpt-live-transcribe',
    make: () => new OpenAiTranscriptionServer(),
  },
] as const;

describe.each(kinds)('the end of a turn by $name', ({ protocol, model, make }) => {
  async function setUp() {
    const clock = new FakeClock();
    const server = make(clock);
    open.push(await server.listen());
    const scene = new LiveScene([providerAt(protocol, server.url, model, clock)], clock);
    open.push(scene.transcription);
    return { server, scene };
  }

  /** What the detector takes for a voice, and the server for silence. */
  async function noise(scene: LiveScene): Promise<void> {
    await scene.hear(quiet(1000));
    scene.transcription.begin();
    await scene.hear(quiet(800));
    scene.transcription.end();
  }

  const isHealthy = (scene: LiveScene) => {
    expect(scene.failures).toEqual([]);
    expect(scene.counts.late_finals).toBeUndefined();
  };

  it('comes soon for a sound that is no speech', async () => {
    const { server, scene } = await setUp();
    await noise(scene);
    await scene.hear(quiet(1100));
    expect(await scene.texts(1)).toEqual(['']);
    await scene.say('yes please');
    await scene.hear(quiet(1100));
    expect(await scene.texts(2)).toEqual(['', 'yes please']);
    expect(server.violations).toEqual([]);
    isHealthy(scene);
  });

  it('leaves what is said right after such a sound to the next turn', async () => {
    const { scene } = await setUp();
    await noise(scene);
    await scene.hear(quiet(100));
    await scene.say('yes please');
    await scene.hear(quiet(1100));
    expect(await scene.texts(2)).toEqual(['', 'yes please']);
    isHealthy(scene);
  });

  it('comes soon for a sound after which no audio comes any more, as on hold', async () => {
    const { server, scene } = await setUp();
    await noise(scene);
    await scene.pass(1400);
    expect(await scene.texts(1)).toEqual(['']);
    await scene.pass(20_000);
    await scene.say('yes please');
    await scene.pass(1400);
    expect(await scene.texts(2)).toEqual(['', 'yes please']);
    expect([server.connections, server.violations]).toEqual([1, []]);
    isHealthy(scene);
  });

  it('comes soon for words after which no audio comes any more', async () => {
    const { server, scene } = await setUp();
    await scene.talk('yes please');
    await scene.hear(quiet(460));
    scene.transcription.end();
    await scene.pass(1400);
    expect(await scene.texts(1)).toEqual(['yes please']);
    await scene.say('thanks');
    await scene.pass(1400);
    expect(await scene.texts(2)).toEqual(['yes please', 'thanks']);
    expect([server.connections, server.violations]).toEqual([1, []]);
    isHealthy(scene);
  });

  it('comes soon when all words before it are final already', async () => {
    const { scene } = await setUp();
    for (const [count, sentence] of ['yes please', 'thanks'].entries()) {
      await scene.talk(sentence);
      await scene.hear(quiet(460));
      scene.transcription.end();
      await scene.hear(quiet(1100));
      expect((await scene.texts(count + 1)).at(-1)).toBe(sentence);
    }
    isHealthy(scene);
  });
});
