/** Voices over WebSocket, with servers that reject what the real ones would. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { joinedPieces, type TextToSpeech } from '#shared/models/speech.ts';
import { SpeechCache } from '#shared/models/speech-cache.ts';
import { RecordingLog } from '../../../test/kit/edge/agent.ts';
import { labKey } from '../../../test/kit/speech/lab-server.ts';
import { DeepgramSpeakServer, ElevenLabsServer } from '../../../test/kit/speech/speak-servers.ts';
import { Speaking } from '../speaking.ts';
import { deepgramSpeak } from './deepgram-speak.ts';
import { elevenLabs } from './elevenlabs.ts';
import { FallbackVoice } from './fallback-voice.ts';
import { SocketVoice } from './socket-voice.ts';

const kinds = [
  {
    name: 'ElevenLabs',
    path: '/v1/text-to-speech',
    protocol: elevenLabs('ada'),
    make: () => new ElevenLabsServer(),
  },
  {
    name: 'Deepgram',
    path: '/v1/speak',
    protocol: deepgramSpeak('ada'),
    make: () => new DeepgramSpeakServer(),
  },
] as const;

const english = { voice: null, language: 'en-US', sampleRate: 8000 } as const;
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const embedded: TextToSpeech = {
  synthesize: async (text) => new Int16Array(text.length).fill(7),
  close: async () => undefined,
};

describe.each(kinds)('the voice of $name', ({ path, protocol, make }) => {
  async function setUp() {
    const clock = new FakeClock();
    const server = make();
    open.push(await server.listen());
    const url = new URL(path, server.url);
    const voice = new SocketVoice(protocol, { url, apiKey: labKey, model: 'm' }, { clock });
    return { clock, server, voice };
  }

  it('speaks a text whole, at the rate of the call', async () => {
    const { clock, server, voice } = await setUp();
    const samples = await voice.synthesize('Hello Ada', { ...english, sampleRate: 16_000 });
    expect([samples.length, samples[0], samples.at(-1)]).toEqual([9 * 320, 1000, 1000]);
    expect([server.spoken, server.violations]).toEqual([['Hello Ada'], []]);
    await voice.close();
    await expect.poll(() => server.open).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('plays the first sound while the rest is made', async () => {
    const { server, voice } = await setUp();
    server.pauseAfter = 2;
    const speaking = new Speaking(voice, english, 60);
    await speaking.ready({ text: 'Hello' });
    const said = speaking.say({ text: 'Hello' }, () => undefined);
    const frame = new Int16Array(160);
    await expect.poll(() => speaking.read(frame)).toBe(true);
    expect(frame[0]).toBe(1000);
    server.goOn();
    expect(await said).toBe(0);
    let frames = 1;
    while (speaking.read(frame)) frames++;
    expect(frames).toBe(5);
  });

  it('ends the request when the speech is stopped, and tells what was heard', async () => {
    const { server, voice } = await setUp();
    server.pauseAfter = 20;
    const speaking = new Speaking(voice, english, 60);
    const text = 'one two three four five six seven';
    await speaking.ready({ text });
    let heard: string | null = null;
    const said = speaking.say({ text }, (words) => {
      heard = words;
    });
    await expect.poll(() => speaking.leftMs).toBe(400);
    const frame = new Int16Array(160);
    for (let frames = 0; frames < 20; frames++) expect(speaking.read(frame)).toBe(true);
    speaking.stop();
    await said.catch(() => undefined);
    await expect.poll(() => server.open).toBe(0);
    expect(heard).toMatch(/^one two\b/);
    expect(heard).not.toContain('seven');
    expect(speaking.read(frame)).toBe(false);
  });

  it('says why a text cannot be spoken, without the key', async () => {
    const { clock, server, voice } = await setUp();
    server.faults.refuse = 401;
    server.faults.body = `no such key: ${labKey}`;
    await expect(voice.synthesize('Hello', english)).rejects.toThrow(/answered 401 no such key: \*\*\*$/);
    server.faults.refuse = null;
    server.dieAfter = 2;
    await expect(voice.synthesize('Hello', english)).rejects.toThrow(
      /closed the connection \(1011: internal\)/,
    );
    server.dieAfter = null;
    server.pauseAfter = 0;
    const late = voice.synthesize('Hello', english);
    await expect.poll(() => server.spoken.length).toBe(2);
    clock.advance(60_000);
    await expect(late).rejects.toThrow(/sent no sound for \d+ ms/);
  });

  it('is not listened to when its sound drips, although each drop is a sign of life', async () => {
    const { clock, server, voice } = await setUp();
    Object.assign(server, { pauseAfter: 0, drips: true });
    let failure: unknown = null;
    let pieces = 0;
    const speaking = (async () => {
      const sound = voice.stream('A text of more than ten letters', english, new AbortController().signal);
      for await (const piece of sound) pieces += piece.length / 160;
    })().catch((error: unknown) => {
      failure = error;
    });
    await expect.poll(() => server.spoken.length).toBe(1);
    for (let piece = 1; failure === null && piece < 20; piece++) {
      clock.advance(4_000);
      server.goOn();
      await expect.poll(() => failure !== null || pieces === piece).toBe(true);
    }
    await speaking;
    expect(String(failure)).toMatch(/sends sound too slowly$/);
    expect(pieces).toBe(3);
    await expect.poll(() => server.open).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('is replaced by the embedded voice when it fails before the first sound, and used again', async () => {
    const { clock, server, voice } = await setUp();
    const failures: boolean[] = [];
    const cache = new SpeechCache(voice, 1_000_000);
    const both = new FallbackVoice(cache, embedded, {
      clock,
      log: new RecordingLog(),
      meter: { failed: (fellBack) => failures.push(fellBack), firstSound: () => undefined },
    });
    server.faults.refuse = 503;
    expect([...(await both.synthesize('Hi', english))]).toEqual([7, 7]);
    await expect(both.synthesize('Hallo', { ...english, language: 'de-DE' })).rejects.toThrow('503');
    expect(failures).toEqual([true, false]);
    // Where the voice is part of a test, another one is none.
    const exact = (voice: string) => both.synthesize('Hi', { ...english, voice, exact: true });
    await expect(exact('nova')).rejects.toThrow('503');
    expect([...(await exact('slt'))]).toEqual([7, 7]);
    expect(failures.splice(2)).toEqual([false, true]);
    server.faults.refuse = null;
    expect((await both.synthesize('Hi', english)).length).toBe(320);
    expect((await both.synthesize('Hi', english)).length).toBe(320);
    expect([server.spoken, cache.hits]).toEqual([['Hi'], 1]);
    server.dieAfter = 1;
    const pieces: Int16Array[] = [];
    const broken = async () => {
      for await (const piece of both.stream('Broken', english, new AbortController().signal))
        pieces.push(piece);
    };
    await expect(broken()).rejects.toThrow('1011');
    expect(joinedPieces(pieces).length).toBe(160);
  });
});

it.each(['in pieces', 'whole'])(
  'a voice that does not end is cut off, %s, by the length of the text',
  async (how) => {
    const second = new Int16Array(8000).fill(1000);
    let closed = false;
    const endless: TextToSpeech = {
      synthesize: async () => new Int16Array(200 * 8000),
      ...(how === 'in pieces' && {
        stream: async function* () {
          try {
            for (;;) yield second;
          } finally {
            closed = true;
          }
        },
      }),
      close: async () => undefined,
    };
    const failed: boolean[] = [];
    const meter = { failed: (fellBack: boolean) => void failed.push(fellBack), firstSound: () => undefined };
    const voice = new FallbackVoice(endless, embedded, {
      meter,
      clock: new FakeClock(),
      log: new RecordingLog(),
    });
    let seconds = 0;
    const heard = async () => {
      for await (const piece of voice.stream('Hello Ada!', english, new AbortController().signal))
        seconds += piece.length / 8000;
    };
    if (how === 'in pieces') {
      await expect(heard()).rejects.toThrow('10 characters took more than 15 s');
      expect([seconds, failed, closed]).toEqual([15, [false], true]);
    } else {
      await heard();
      expect([seconds, failed]).toEqual([10 / 8000, [true]]);
    }
  },
);

describe('connections of the voice of Deepgram', () => {
  async function setUp() {
    const clock = new FakeClock();
    const server = await new DeepgramSpeakServer().listen();
    const url = new URL('/v1/speak', server.url);
    const voice = new SocketVoice(deepgramSpeak('ada'), { url, apiKey: labKey, model: 'm' }, { clock });
    open.push(server, voice);
    return { clock, server, voice };
  }

  it('speak the next text of the same rate, and are closed when they were unused for 15 s', async () => {
    const { clock, server, voice } = await setUp();
    expect((await voice.synthesize('One', english)).length).toBe(3 * 160);
    expect((await voice.synthesize('Three', english)).length).toBe(5 * 160);
    expect((await voice.synthesize('Wide', { ...english, sampleRate: 16_000 })).length).toBe(4 * 320);
    expect([server.connections, server.open]).toEqual([2, 2]);
    expect(server.spoken).toEqual(['One', 'Three', 'Wide']);
    clock.advance(15_000);
    await expect.poll(() => server.open).toBe(0);
    expect((await voice.synthesize('Again', english)).length).toBe(5 * 160);
    expect([server.connections, server.violations]).toEqual([3, []]);
  });

  it('are replaced after 20 texts, and when a text was stopped', async () => {
    const { server, voice } = await setUp();
    for (let text = 0; text < 21; text++) await voice.synthesize('Hi', english);
    expect(server.connections).toBe(2);
    for await (const _piece of voice.stream('Hello', english, new AbortController().signal)) break;
    await voice.synthesize('Hi', english);
    expect(server.connections).toBe(3);
  });

  it('that the server has lost are noticed, and those that it closes with a text are replaced', async () => {
    const { server, voice } = await setUp();
    await voice.synthesize('One', english);
    server.cut();
    await expect.poll(() => server.open).toBe(0);
    expect((await voice.synthesize('Two', english)).length).toBe(3 * 160);
    server.dieAfter = 0;
    await expect(voice.synthesize('Three', english)).rejects.toThrow('1011');
    expect(server.spoken).toEqual(['One', 'Two', 'Three', 'Three']);
  });

  it('on which the server reports an error between two texts are not used again', async () => {
    const { clock, server, voice } = await setUp();
    await voice.synthesize('One', english);
    server.complain();
    await expect.poll(() => server.open).toBe(0);
    expect((await voice.synthesize('Two', english)).length).toBe(3 * 160);
    expect([server.connections, server.spoken]).toEqual([2, ['One', 'Two']]);
    await voice.close();
    await expect.poll(() => server.open + clock.pending).toBe(0);
  });

  it('are a few at a time when nobody speaks', async () => {
    const { server, voice } = await setUp();
    await Promise.all(Array.from({ length: 12 }, (_, i) => voice.synthesize(`Text ${i}`, english)));
    await expect.poll(() => server.open).toBe(8);
    expect(server.connections).toBe(12);
  });
});
