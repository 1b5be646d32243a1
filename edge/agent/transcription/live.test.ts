/** The same promises for every provider, over real sockets, with a server that rejects what the real one would. */
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { FluxServer } from '../../../test/kit/speech/flux-server.ts';
import { type LabServer, labKey } from '../../../test/kit/speech/lab-server.ts';
import { LiveScene, providerAt } from '../../../test/kit/speech/live-scene.ts';
import { OpenAiTranscriptionServer } from '../../../test/kit/speech/openai-transcription-server.ts';
import { quiet, spoken } from '../../../test/kit/speech/words.ts';
import { deepgram } from './deepgram.ts';
import { deepgramFlux } from './deepgram-flux.ts';
import { transcriptionLimits } from './live-deps.ts';
import { openAiRealtime } from './openai-realtime.ts';
import type { TranscriptionOptions } from './transcription.ts';
import { utteranceProvider } from './utterances.ts';

const kinds = [
  {
    name: 'Deepgram',
    protocol: deepgram,
    model: 'nova-3',
    make: (clock: FakeClock) => new DeepgramServer(clock),
  },
  { name: 'Deepgram Flux', protocol: deepgramFlux, model: 'flux-general-en', make: () => new FluxServer() },
  {
    name: 'OpenAI Realtime',
    protocol: openAiRealtime,
    model: 'gpt-live-transcribe',
    make: () => new OpenAiTranscriptionServer(),
  },
] as const;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function listening<Server extends LabServer>(server: Server): Promise<Server> {
  open.push(await server.listen());
  return server;
}

describe.each(kinds)('live transcription by $name', ({ protocol, model, make }) => {
  async function setUp(limits: Partial<typeof transcriptionLimits> = {}) {
    const clock = new FakeClock();
    const server = await listening(make(clock));
    const scene = new LiveScene([providerAt(protocol, server.url, model, clock)], clock, { limits });
    open.push(scene.transcription);
    return { clock, server, scene };
  }

  it('shows the words while the caller speaks, and hands over each turn once', async () => {
    const { server, scene } = await setUp();
    await scene.say('book a table');
    expect(await scene.texts(1)).toEqual(['book a table']);
    await scene.say('for two');
    expect(await scene.texts(2)).toEqual(['book a table', 'for two']);
    const shown = scene.partials.map(({ text }) => text);
    expect(shown).toContain('book a');
    expect(shown.slice(-1)).toEqual(['for two']);
    expect(server.violations).toEqual([]);
    expect(scene.counts).toMatchObject({ first_partial: 2, final: 2 });
  });

  it('has all words of a voice that the detector has noticed late', async () => {
    const { server, scene } = await setUp();
    await scene.hear(quiet(3000));
    await scene.talk('book a table for two tonight please', 900);
    await scene.hear(quiet(400));
    scene.transcription.end();
    expect(await scene.texts(1)).toEqual(['book a table for two tonight please']);
    expect(server.violations).toEqual([]);
  });

  it('loses and doubles no word when the connection is cut in the middle of a turn', async () => {
    const { server, scene } = await setUp();
    await scene.say('yes');
    expect(await scene.texts(1)).toEqual(['yes']);
    await scene.talk('book a table');
    server.cut();
    await scene.until(() => server.open === 0);
    await scene.talk('for two tonight');
    await scene.hear(quiet(400));
    scene.transcription.end();
    expect(await scene.texts(2)).toEqual(['yes', 'book a table for two tonight']);
    expect(server.connections).toBe(2);
    expect(server.violations).toEqual([]);
    expect(scene.counts.reconnects).toBe(1);
  });

  it('sends a turn again whose words were awaited when the connection was cut', async () => {
    const { server, scene } = await setUp();
    await scene.talk('yes please');
    await scene.hear(quiet(400));
    server.faults.mute = true;
    scene.transcription.end();
    await scene.pass(100);
    server.faults.mute = false;
    server.cut();
    expect(await scene.texts(1)).toEqual(['yes please']);
    expect(server.violations).toEqual([]);
  });

  it('keeps what is said while the server refuses connections', async () => {
    const { server, scene } = await setUp();
    server.faults.refuse = 503;
    await scene.talk('book a table');
    expect(server.refused).toBeGreaterThan(0);
    server.faults.refuse = null;
    await scene.hear(quiet(400));
    scene.transcription.end();
    await scene.pass(2000);
    expect(await scene.texts(1)).toEqual(['book a table']);
  });

  it('hands over the words so far when the server stops answering, and never repeats them', async () => {
    const { server, scene } = await setUp();
    await scene.talk('yes please');
    await scene.hear(quiet(280));
    await scene.until(() => scene.partials.at(-1)?.text === 'yes please');
    server.faults.mute = true;
    await scene.hear(quiet(400));
    scene.transcription.end();
    await scene.pass(protocol.finalWithinMs + 500);
    expect(await scene.texts(1)).toEqual(['yes please']);
    expect(scene.counts.late_finals).toBe(1);
    expect(scene.failures).toHaveLength(1);
    server.faults.mute = false;
    server.cut();
    await scene.until(() => server.open === 0);
    await scene.say('thanks');
    expect(await scene.texts(2)).toEqual(['yes please', 'thanks']);
  });

  it('says why a server cannot be used, without the key, and does not give up', async () => {
    const { server, scene } = await setUp();
    server.faults.refuse = 401;
    server.faults.body = `Invalid credentials: ${labKey}`;
    await scene.say('yes');
    await scene.pass(transcriptionLimits.giveUpMs + 1000);
    expect(await scene.texts(1)).toEqual(['']);
    const [failure = ''] = scene.failures;
    expect(failure).toMatch(
      /^127\.0\.0\.1:\d+\/v\d\/\w+ cannot be used: 127\.0\.0\.1 answered 401 Invalid credentials: \*\*\*$/,
    );
    expect(inspect([scene.log.warnings, scene.failures], { depth: 10 })).not.toContain(labKey);
    server.faults.refuse = null;
    await scene.pass(transcriptionLimits.longestRetryMs);
    await scene.say('bye');
    expect(await scene.texts(2)).toEqual(['', 'bye']);
  });

  it('keeps a bounded amount of audio when a server takes none', async () => {
    const { server, scene } = await setUp({ maxKeptSeconds: 2 });
    server.faults.refuse = 503;
    await scene.talk('book a table for two tonight please');
    await scene.hear(quiet(3000));
    expect(scene.counts.lost_audio).toBeGreaterThan(0);
    expect(scene.log.warnings.filter(({ message }) => message.includes('takes no audio'))).toHaveLength(1);
  });

  it('closes its connection, and says nothing afterwards', async () => {
    const { server, scene } = await setUp();
    await scene.talk('yes');
    await scene.until(() => server.open === 1);
    scene.transcription.close();
    scene.transcription.write(new Int16Array(160));
    scene.transcription.end();
    await scene.until(() => server.open === 0);
    await scene.pass(10_000);
    expect(scene.finals).toEqual([]);
    expect(server.connections).toBe(1);
    expect(server.violations).toEqual([]);
  });

  it('continues at the second server when the first fails, and the next call begins there', async () => {
    const clock = new FakeClock();
    const first = await listening(make(clock));
    const second = await listening(make(clock));
    first.faults.refuse = 500;
    const scene = new LiveScene(
      [providerAt(protocol, first.url, model, clock), providerAt(protocol, second.url, model, clock)],
      clock,
    );
    open.push(scene.transcription);
    await scene.say('book a table');
    expect(await scene.texts(1)).toEqual(['book a table']);
    expect(scene.counts.fallbacks).toBe(1);
    expect(first.refused).toBe(1);
    await scene.say('bye');
    expect(await scene.texts(2)).toEqual(['book a table', 'bye']);
    expect(first.refused).toBe(1);
  });

  it('continues with whole utterances when the first server fails', async () => {
    const clock = new FakeClock();
    const server = await listening(make(clock));
    server.faults.refuse = 500;
    const heard: number[] = [];
    const stt = {
      transcribe: async (samples: Int16Array) => {
        heard.push(samples.length / 8);
        return 'from the second server';
      },
    };
    const scene = new LiveScene(
      [providerAt(protocol, server.url, model, clock), utteranceProvider(stt, 'second')],
      clock,
    );
    open.push(scene.transcription);
    await scene.say('book a table');
    expect(await scene.texts(1)).toEqual(['from the second server']);
    // Three words, the silence after them; nothing preceded them.
    expect(heard).toEqual([3 * 140 + 400]);
  });
});

describe('Deepgram', () => {
  async function setUp() {
    const clock = new FakeClock();
    const server = await listening(new DeepgramServer(clock));
    const scene = new LiveScene([providerAt(deepgram, server.url, 'nova-3', clock)], clock, {
      options: { keyTerms: ['Trunkline', 'Ada'] },
    });
    open.push(scene.transcription);
    return { server, scene };
  }

  it('gets format, language and key terms, and keeps what the operator has set in the URL', async () => {
    const clock = new FakeClock();
    const server = await listening(new DeepgramServer(clock));
    const url = new URL(`${server.url}?endpointing=100&language=de`);
    const scene = new LiveScene([providerAt(deepgram, url, 'nova-3', clock)], clock, {
      options: { keyTerms: ['Trunkline', 'Ada'] },
    });
    open.push(scene.transcription);
    await scene.say('yes');
    await scene.texts(1);
    expect(server.query.getAll('keyterm')).toEqual(['Trunkline', 'Ada']);
    expect(Object.fromEntries(server.query)).toMatchObject({
      model: 'nova-3',
      encoding: 'linear16',
      sample_rate: '8000',
      endpointing: '100',
      language: 'de',
    });
  });

  it('is kept alive while no audio comes, as on hold', async () => {
    const { server, scene } = await setUp();
    await scene.say('yes');
    await scene.texts(1);
    await scene.pass(60_000);
    expect(server.open).toBe(1);
    await scene.say('bye');
    expect(await scene.texts(2)).toEqual(['yes', 'bye']);
    expect(server.connections).toBe(1);
  });

  it('tells words that the detector has missed', async () => {
    const { scene } = await setUp();
    await scene.hear(spoken('yes please'));
    await scene.hear(quiet(1100));
    await scene.until(() => scene.turns.includes('ended'));
    scene.transcription.end();
    expect(await scene.texts(1)).toEqual(['yes please']);
  });

  it('does not wait long for a turn whose end gets no answer, nor take a late answer for the next turn', async () => {
    const { server, scene } = await setUp();
    server.ignoresFinalize = true;
    await scene.say('yes');
    await scene.until(() => scene.partials.length > 0);
    await scene.pass(deepgram.finalWithinMs + 500);
    expect(await scene.texts(1)).toEqual(['yes']);
    server.ignoresFinalize = false;
    await scene.say('bye');
    expect(await scene.texts(2)).toEqual(['yes', 'bye']);
    expect(scene.finals.map(({ confidence }) => confidence)).toEqual([0.9, 0.9]);
  });

  it('is reconnected before it is used again when it closes an idle connection', async () => {
    const { server, scene } = await setUp();
    await scene.say('yes');
    await scene.texts(1);
    server.cut();
    await scene.until(() => server.open === 0);
    await scene.pass(1000);
    expect(server.connections).toBe(1);
    await scene.say('bye');
    expect(await scene.texts(2)).toEqual(['yes', 'bye']);
    expect(scene.log.warnings).toEqual([]);
  });
});

describe('Deepgram Flux', () => {
  it('needs no end of ours after a turn that it has ended itself', async () => {
    const clock = new FakeClock();
    const server = await listening(new FluxServer());
    const scene = new LiveScene([providerAt(deepgramFlux, server.url, 'flux-general-en', clock)], clock);
    open.push(scene.transcription);
    await scene.talk('book a table');
    await scene.hear(quiet(300));
    await scene.talk('for two');
    await scene.hear(quiet(700));
    await scene.until(() => scene.turns.includes('ended'));
    expect(scene.turns).toEqual(['started', 'likely_ended', 'resumed', 'likely_ended', 'ended']);
    scene.transcription.end();
    expect(scene.finals.map(({ text }) => text)).toEqual(['book a table for two']);
    expect(scene.counts.late_finals).toBeUndefined();
  });
});

describe('OpenAI Realtime', () => {
  async function setUp(options: Partial<TranscriptionOptions> = {}, model = 'gpt-live-transcribe') {
    const clock = new FakeClock();
    const server = await listening(new OpenAiTranscriptionServer());
    const scene = new LiveScene([providerAt(openAiRealtime, server.url, model, clock)], clock, { options });
    open.push(scene.transcription);
    return { server, scene };
  }

  it('gets G.711 as it is, without turn detection, and key terms in the form of the model', async () => {
    const { server, scene } = await setUp({ keyTerms: ['Ada'] });
    await scene.say('yes');
    await scene.texts(1);
    expect(server.session).toEqual({
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcmu' },
          transcription: { model: 'gpt-live-transcribe', language: 'en', keywords: ['Ada'] },
          turn_detection: null,
        },
      },
    });
    const other = await setUp({ keyTerms: ['Ada', 'Bo'] }, 'gpt-4o-transcribe');
    await other.scene.say('yes');
    await other.scene.texts(1);
    expect(JSON.stringify(other.server.session)).toContain('"prompt":"Ada, Bo"');
  });

  it('gets 24 kHz from a wide-band call', async () => {
    const { server, scene } = await setUp({ sampleRate: 16_000 });
    await scene.hear(quiet(100, 16_000));
    scene.transcription.begin();
    await scene.hear(spoken('yes', 16_000));
    await scene.hear(quiet(200, 16_000));
    scene.transcription.end();
    await scene.texts(1);
    expect(JSON.stringify(server.session)).toContain('"format":{"type":"audio/pcm","rate":24000}');
    expect(server.violations).toEqual([]);
  });

  it('hands over turns in their order, even if the server completes the second first', async () => {
    const { server, scene } = await setUp();
    server.swaps = true;
    await scene.say('yes please');
    await scene.say('thanks');
    expect(await scene.texts(2)).toEqual(['yes please', 'thanks']);
  });

  it('takes a turn without enough audio, and one that cannot be transcribed, for a turn without words', async () => {
    const { server, scene } = await setUp();
    await scene.hear(quiet(40));
    scene.transcription.begin();
    scene.transcription.end();
    expect(await scene.texts(1)).toEqual(['']);
    server.failing = true;
    await scene.say('yes');
    expect(await scene.texts(2)).toEqual(['', '']);
    expect(scene.failures.join()).toMatch(/^the error of .*: The audio could not be transcribed\.$/);
    server.failing = false;
    await scene.say('bye');
    expect(await scene.texts(3)).toEqual(['', '', 'bye']);
    expect([scene.failures.length, scene.counts.failures]).toEqual([1, 1]);
    expect(server.connections).toBe(1);
  });
});

describe('whole utterances', () => {
  it('report the reason of a failure, and go on', async () => {
    const answers = [new Error('status 500'), 'yes'];
    const stt = {
      transcribe: async () => {
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer ?? '';
      },
    };
    const scene = new LiveScene([utteranceProvider(stt, 'http')]);
    await scene.say('yes');
    expect(await scene.texts(1)).toEqual(['']);
    expect(scene.failures).toEqual(['status 500']);
    await scene.say('yes');
    expect(await scene.texts(2)).toEqual(['', 'yes']);
    scene.transcription.close();
  });
});
