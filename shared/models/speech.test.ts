import { readdirSync } from 'node:fs';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openFiles } from '../../test/kit/open-files.ts';
import { Flite, fliteText } from './flite.ts';
import { OpenAiSpeechToText, OpenAiTextToSpeech } from './openai-speech.ts';
import type { TextToSpeech } from './speech.ts';
import { SpeechCache } from './speech-cache.ts';
import { readWav, writeWav } from './wav.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 };

function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

describe('flite', () => {
  let flite: Flite;
  beforeAll(() => {
    flite = new Flite();
  });
  afterAll(() => flite.close());

  it.each([8000, 16000])(
    'says "Hello world" at %d Hz audibly within half a second to two seconds',
    async (sampleRate) => {
      const samples = await flite.synthesize('Hello world', { ...english, sampleRate });
      expect(samples.length / sampleRate).toBeGreaterThan(0.5);
      expect(samples.length / sampleRate).toBeLessThan(2);
      expect(loudness(samples)).toBeGreaterThan(500);
    },
  );

  it('has several voices, and uses its default for an unknown name', async () => {
    const say = (voice: string | null) => flite.synthesize('Good morning', { ...english, voice });
    const [own, unknown, kal] = await Promise.all([say(null), say('june'), say('kal')]);
    expect(unknown).toEqual(own);
    expect(kal).not.toEqual(own);
    const exact = (voice: string) => flite.synthesize('Good morning', { ...english, voice, exact: true });
    expect(await exact('kal')).toEqual(kal);
    await expect(exact('june')).rejects.toThrow('“june” is none of the embedded voices (slt, kal');
  });

  it('is warmed once, and again when that has failed', async () => {
    const cold = new Flite({ maxWaiting: 0 });
    await expect(cold.warm()).rejects.toThrow('the flite queue is full');
    await expect(cold.warm()).rejects.toThrow('the flite queue is full');
    await cold.close();
    const once = flite.warm();
    expect(flite.warm()).toBe(once);
    await once;
    expect(flite.warm()).toBe(once);
  });

  it('is warm with the first text, whatever else waits', async () => {
    const cold = new Flite();
    const order: string[] = [];
    const noted = (name: string, done: Promise<unknown>) => done.then(() => order.push(name));
    const texts = ['one', 'two'].map((text) => noted(text, cold.synthesize(text, english)));
    await Promise.all([...texts, noted('warm', cold.warm())]);
    expect(order).toEqual(['one', 'warm', 'two']);
    await cold.close();
  });

  it('counts the texts that wait until it is loaded', async () => {
    const cold = new Flite({ maxWaiting: 1 });
    const first = cold.synthesize('One', english);
    await expect(cold.synthesize('Two', english)).rejects.toThrow('the flite queue is full (1 texts)');
    expect((await first).length).toBeGreaterThan(0);
    await cold.close();
  });

  it('leaves no descriptor open after a text', async () => {
    for (const text of ['one', 'two', 'three']) await flite.synthesize(text, english);
    expect(openFiles().filter((path) => path.includes('trunkline-flite-'))).toEqual([]);
  });

  it('says nothing for a text without words', async () => {
    expect(await flite.synthesize(' ...! ', english)).toHaveLength(0);
  });

  it('treats a text that looks like an option as text', async () => {
    expect((await flite.synthesize('-lv 5', english)).length).toBeGreaterThan(2000);
  });

  it('rejects texts that are too long, and everything once it is closed', async () => {
    const small = new Flite({ maxCharacters: 10 });
    await expect(small.synthesize('more than ten', english)).rejects.toThrow(
      '13 characters, flite accepts at most 10',
    );
    await small.close();
    await expect(small.synthesize('short', english)).rejects.toThrow('text-to-speech is closed');
  });

  it('makes nothing ahead that others would wait for', async () => {
    const voice = new Flite();
    await voice.warm();
    const ahead = voice.synthesizeAhead('Good morning.', english);
    expect(ahead).not.toBeNull();
    expect(voice.synthesizeAhead('Good evening.', english)).toBeNull();
    expect((await ahead)?.length).toBeGreaterThan(1000);
    expect(voice.synthesizeAhead('x'.repeat(251), english)).toBeNull();
    await voice.close();
  });

  it('replaces the thread of a synthesis that takes too long', async () => {
    const hasty = new Flite({ limitMs: 1 });
    await expect(hasty.synthesize('word '.repeat(900), english)).rejects.toThrow('the flite thread exited');
    await hasty.close();
  });

  it('leaves no folder and no descriptor of a synthesis that takes too long', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hasty-'));
    vi.stubEnv('TMPDIR', folder);
    // Long enough to begin, and much shorter than the text.
    const hasty = new Flite({ limitMs: 1000 });
    await expect(hasty.synthesize('word '.repeat(900), english)).rejects.toThrow('the flite thread exited');
    vi.unstubAllEnvs();
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([]);
    await hasty.close();
    await rmdir(folder);
  });

  it('gets text in plain ASCII', () => {
    expect(fliteText('“Café”—it’s Straße\n 5 €…')).toBe('"Cafe" - it\'s Strasse 5 ...');
    expect(fliteText('€5 or £7.50, 日本')).toBe('5 euros or 7.50 pounds,');
  });
});

describe('WAV', () => {
  it('reads what it has written', () => {
    fc.assert(
      fc.property(
        fc.int16Array({ maxLength: 500 }),
        fc.constantFrom(8000, 16_000, 24_000),
        (samples, sampleRate) => {
          expect(readWav(writeWav({ samples, sampleRate }))).toEqual({ samples, sampleRate });
        },
      ),
    );
  });

  it('rejects other data with a SpeechError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => readWav(bytes)).toThrow('not a WAV file');
      }),
    );
    expect(() =>
      readWav(writeWav({ samples: new Int16Array(9), sampleRate: 8000 }).subarray(0, 20)),
    ).toThrow();
  });
});

describe('the speech cache', () => {
  function counting() {
    const asked: string[] = [];
    const inner: TextToSpeech = {
      synthesize: async (text) => {
        asked.push(text);
        if (text === 'bad') throw new Error('no');
        return new Int16Array(50);
      },
      close: async () => undefined,
    };
    return { asked, cache: new SpeechCache(inner, 250) };
  }

  it('synthesizes a text once per voice and rate, also on concurrent requests', async () => {
    const { asked, cache } = counting();
    const [a, b] = await Promise.all([cache.synthesize('x', english), cache.synthesize('x', english)]);
    expect(a).toBe(b);
    await cache.synthesize('x', { ...english, voice: 'kal' });
    expect(asked).toEqual(['x', 'x']);
    const first = () => cache.stream('y', english, AbortSignal.any([])).next();
    const [c, d, e] = await Promise.all([first(), cache.synthesize('y', english), first()]);
    expect([c.value, e.value]).toEqual([d, d]);
    expect(asked).toEqual(['x', 'x', 'y']);
  });

  it('speaks texts ahead, two at a time, and keeps them; a failure is not kept', async () => {
    const { asked, cache } = counting();
    await Promise.all(['a', 'b', 'c', 'a'].map((text) => cache.premake(text, english)));
    expect(asked).toEqual(['a', 'b']);
    await cache.synthesize('a', english);
    await cache.premake('b', english);
    expect([asked, cache.hits]).toEqual([['a', 'b'], 1]);
    const failing = new SpeechCache(
      { synthesize: () => Promise.reject(new Error('busy')), close: async () => undefined },
      250,
    );
    await failing.premake('a', english);
    await expect(failing.synthesize('a', english)).rejects.toThrow('busy');
  });

  it('makes texts ahead one after the other where a voice speaks one at a time, and only while it is idle', async () => {
    const asked: string[] = [];
    const made: PromiseWithResolvers<Int16Array>[] = [];
    const synthesize = (text: string) => {
      asked.push(text);
      const one = Promise.withResolvers<Int16Array>();
      made.push(one);
      return one.promise;
    };
    let busy = false;
    const synthesizeAhead = (text: string) => (busy ? null : synthesize(text));
    const cache = new SpeechCache({ synthesize, synthesizeAhead, close: async () => undefined }, 1000);
    const ahead = ['a', 'b', 'c'].map((text) => cache.premake(text, english));
    await ahead[2];
    expect(asked).toEqual(['a']);
    const needed = cache.synthesize('a', english);
    expect(asked).toEqual(['a']);
    busy = true;
    made[0]?.resolve(new Int16Array(50));
    expect(await needed).toHaveLength(50);
    await Promise.all(ahead);
    const late = cache.synthesize('b', english);
    expect(asked).toEqual(['a', 'b']);
    made[1]?.resolve(new Int16Array(50));
    expect(await late).toHaveLength(50);
    busy = false;
    const failed = cache.premake('d', english);
    await expect.poll(() => asked).toEqual(['a', 'b', 'd']);
    const waits = cache.synthesize('d', english);
    made[2]?.reject(new Error('no'));
    await expect(waits).rejects.toThrow('no');
    await failed;
    void cache.synthesize('d', english);
    expect(asked).toEqual(['a', 'b', 'd', 'd']);
  });

  it('drops the least recently used, by bytes', async () => {
    const { asked, cache } = counting();
    for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.synthesize(text, english);
    expect(asked).toEqual(['a', 'b', 'c', 'b']);
    expect(cache.bytes).toBe(200);
  });

  it('retries after a failure', async () => {
    const { asked, cache } = counting();
    await expect(cache.synthesize('bad', english)).rejects.toThrow('no');
    await expect(cache.synthesize('bad', english)).rejects.toThrow('no');
    expect(asked).toEqual(['bad', 'bad']);
  });
});

describe('an OpenAI-compatible server', () => {
  let server: Server | null = null;
  const requests: { url: string; authorization: string | undefined; body: Buffer }[] = [];

  async function serve(...answers: { status: number; body: string | Uint8Array }[]): Promise<string> {
    requests.length = 0;
    server = createServer(async (request, response) => {
      requests.push({
        url: request.url ?? '',
        authorization: request.headers.authorization,
        body: await bodyOf(request),
      });
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      if (answer) response.writeHead(answer.status).end(answer.body);
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    server = null;
  });

  const options = (baseUrl: string) => ({
    baseUrl,
    apiKey: 'sk-1',
    model: 'tts-1',
    retryDelayMs: 1,
    timeoutMs: 20_000,
  });

  it('speaks: 24 kHz PCM, resampled', async () => {
    const base = await serve({ status: 200, body: new Uint8Array(48_000) });
    const tts = new OpenAiTextToSpeech(options(`${base}/v1/`), { voice: 'alloy' });
    expect(await tts.synthesize('Hi', english)).toHaveLength(8000);
    expect(requests[0]).toMatchObject({ url: '/v1/audio/speech', authorization: 'Bearer sk-1' });
    expect(JSON.parse(requests[0]?.body.toString() ?? '')).toEqual({
      model: 'tts-1',
      input: 'Hi',
      voice: 'alloy',
      response_format: 'pcm',
    });
  });

  it('speaks: a WAV file, whatever was requested', async () => {
    const base = await serve({
      status: 200,
      body: writeWav({ samples: new Int16Array(16_000), sampleRate: 16_000 }),
    });
    const tts = new OpenAiTextToSpeech(options(base), { voice: 'alloy' });
    expect(await tts.synthesize('Hi', english)).toHaveLength(8000);
  });

  it('is retried after 429 and 5xx, but not after 400', async () => {
    const good = { status: 200, body: new Uint8Array(480) };
    const speak = (base: string) =>
      new OpenAiTextToSpeech(options(base), { voice: 'alloy' }).synthesize('Hi', english);
    expect(await speak(await serve({ status: 429, body: '' }, { status: 503, body: '' }, good))).toHaveLength(
      80,
    );
    server?.close();
    const refusing = await serve({ status: 400, body: 'bad voice' });
    await expect(speak(refusing)).rejects.toThrow(
      `the request to ${refusing}/v1/audio/speech failed: status 400 bad voice`,
    );
    expect(requests).toHaveLength(1);
  });

  it('fails after three attempts without a response', async () => {
    const tts = new OpenAiTextToSpeech({ ...options(await serve()), timeoutMs: 2000 }, { voice: 'alloy' });
    await expect(tts.synthesize('Hi', english)).rejects.toThrow('no answer within 2000 ms');
    expect(requests).toHaveLength(3);
  });

  it('plays the first sound while the server still makes the rest, and ends the request when it is not wanted', async () => {
    const closed = Promise.withResolvers<void>();
    const server = createServer((_request, response) => {
      response.on('close', () => closed.resolve());
      // An odd number of octets: a sample is cut in two.
      response.write(Buffer.from(new Int16Array(24_000).fill(1000).buffer).subarray(0, 40_001));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const tts = new OpenAiTextToSpeech(options(`http://127.0.0.1:${port}`), { voice: 'alloy' });
    const stop = new AbortController();
    let samples = 0;
    const all = async () => {
      for await (const piece of tts.stream('Hello', english, stop.signal)) {
        samples += piece.length;
        if (samples > 6000) stop.abort();
      }
    };
    await expect(all()).rejects.toThrow('audio/speech failed');
    expect(samples).toBeGreaterThan(6000);
    expect(samples).toBeLessThan(40_001 / 6);
    await closed.promise;
    await new Promise((resolve) => server.close(resolve));
  });

  it('transcribes a WAV file', async () => {
    const stt = new OpenAiSpeechToText(options(await serve({ status: 200, body: '{"text":" hello "}' })));
    const samples = Int16Array.of(1, 2, 3);
    expect(await stt.transcribe(samples, { sampleRate: 8000, language: 'en-US' })).toBe('hello');
    const { url, body } = requests[0] ?? { url: '', body: Buffer.alloc(0) };
    expect(url).toBe('/v1/audio/transcriptions');
    const wav = body.indexOf('RIFF');
    expect(readWav(body.subarray(wav, wav + 50))).toEqual({ samples, sampleRate: 8000 });
    expect(body.includes('name="language"\r\n\r\nen\r\n')).toBe(true);
  });

  it('reports a response that is not a transcript', async () => {
    const stt = new OpenAiSpeechToText(options(await serve({ status: 200, body: 'ok' })));
    await expect(stt.transcribe(new Int16Array(1), { sampleRate: 8000, language: 'en' })).rejects.toThrow(
      'did not answer JSON',
    );
  });
});

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
