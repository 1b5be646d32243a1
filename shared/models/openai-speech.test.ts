/** Speech servers that answer with something else than was asked for: nothing is played that is not the sound of the text. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OpenAiTextToSpeech } from './openai-speech.ts';
import { writeWav } from './wav.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 } as const;
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function voiceWith(answer: (response: ServerResponse) => void): Promise<OpenAiTextToSpeech> {
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new OpenAiTextToSpeech({ baseUrl, apiKey: null, model: 'tts-1' }, { voice: 'alloy' });
}

/** The length of what is heard of a text, or why nothing is, of a text that is streamed and one that is spoken ahead. */
async function heardOf(answer: (response: ServerResponse) => void): Promise<(number | string)[]> {
  const tts = await voiceWith(answer);
  const streamed = async () => {
    let samples = 0;
    for await (const piece of tts.stream('Hi', english, new AbortController().signal))
      samples += piece.length;
    return samples;
  };
  const whole = tts.synthesize('Hi', english).then(({ length }) => length);
  return Promise.all([streamed(), whole].map((spoken) => spoken.catch((error: Error) => error.message)));
}

/** Each part is a chunk of its own at the other side. */
async function inParts(response: ServerResponse, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    response.write(part);
    await new Promise(setImmediate);
  }
  response.end();
}

const wav = (sampleRate: number) => writeWav({ samples: new Int16Array(sampleRate).fill(7), sampleRate });

it.each(['application/json', 'text/html; charset=utf-8'])('%s is not played as sound', async (type) => {
  const heard = await heardOf((response) =>
    response.writeHead(200, { 'content-type': type }).end('quota exceeded '.repeat(1000)),
  );
  for (const why of heard) expect(why).toContain(`${type} in place of sound: quota exceeded`);
});

it.each(['{"error":{"message":"overloaded"}}', '<html><body>502 Bad Gateway</body></html>', 'overloaded'])(
  '%s is not played as sound, although its type says so',
  async (words) => {
    const heard = await heardOf((response) => {
      response.setHeader('content-type', 'audio/pcm');
      response.end(words);
    });
    for (const why of heard) expect(why).toContain(`words in place of sound: ${words.slice(0, 44)}`);
  },
);

/** The head of a WAV file, without the size of its sound. */
const openHead = (channels: number) => {
  const head = Buffer.from(wav(8000).subarray(0, 40)).fill(0xff, 4, 8);
  head.writeUInt16LE(channels, 22);
  return head;
};

describe.each([
  ['samples', Buffer.alloc(0)],
  ['a WAV file without sizes', openHead(1)],
  ['a WAV file without sizes, of two channels', openHead(2)],
])('words after the sound of %s', (_, head) => {
  it.each([
    '{"error":{"message":"overloaded"}}',
    '<html><body>502 Bad Gateway</body></html>',
    'upstream request timeout: no answer',
  ])('are not heard: %s', async (words) => {
    const size = head.length > 0 ? Buffer.alloc(4, 0xff) : head;
    const parts = [head, size, Buffer.alloc(48_000, 1), Buffer.from(words)].filter(
      ({ length }) => length > 0,
    );
    for (const sent of [parts, [Buffer.concat(parts)]]) {
      const heard = await heardOf((response) => void inParts(response, sent));
      for (const why of heard) expect(why).toContain(`words in place of sound: ${words.slice(0, 30)}`);
    }
  });
});

/** Two characters: 11 s at most. */
it.each([
  ['samples', new Uint8Array(12 * 48_000)],
  ['samples without an end', new Uint8Array(6_000_000)],
  ['a WAV file', writeWav({ samples: new Int16Array(12 * 8000), sampleRate: 8000 })],
  ['a WAV file without an end', writeWav({ samples: new Int16Array(3_000_000), sampleRate: 8000 })],
])('%s that are far too long for the text are not converted and kept', async (_, body) => {
  const heard = await heardOf((response) => response.end(body));
  for (const why of heard) expect(why).toBe('the speech of 2 characters took more than 11 s');
});

describe('a compressed format', () => {
  const frame = (second: number) => Buffer.from([0xff, second, 0x90, 0x64]);
  const cases: [string, string, Buffer][] = [
    ['MP3', 'audio/mpeg', Buffer.from('ID3\x04')],
    ['MP3', 'audio/mpeg', frame(0xfb)],
    ['MP3', '', frame(0xf3)],
    ['MP3', 'application/octet-stream', frame(0xe3)],
    ['Ogg', 'audio/pcm', Buffer.from('OggS')],
    ['FLAC', '', Buffer.from('fLaC')],
    ['M4A', 'audio/mp4', Buffer.from('\0\0\0\x20ftypM4A ')],
    ['WebM', '', Buffer.from([0x1a, 0x45, 0xdf, 0xa3])],
  ];
  it.each(cases)('such as %s (%s) is not played as noise', async (format, type, head) => {
    const heard = await heardOf((response) => {
      if (type !== '') response.setHeader('content-type', type);
      void inParts(response, [head.subarray(0, 1), head.subarray(1), Buffer.alloc(20_000, 0xa5)]);
    });
    for (const why of heard) expect(why).toContain(`sent ${format} in place of 16-bit PCM`);
  });

  it.each(['audio/pcm', 'audio/pcm;rate=24000', 'audio/L16', 'audio/x-wav'])(
    'is not suspected in %s, whose first sample may be any',
    async (type) => {
      const heard = await heardOf((response) => {
        response.setHeader('content-type', type);
        void inParts(response, [Buffer.concat([frame(0xfb), Buffer.alloc(47_996)])]);
      });
      expect(heard).toEqual([8000, 8000]);
    },
  );

  it.each([
    ['-1', [0xff, 0xff, 0xff, 0xff]],
    ['a layer that nobody uses', [0xff, 0xfd, 0x90, 0x64]],
    ['a reserved version', [0xff, 0xeb, 0x90, 0x64]],
    ['no bit rate', [0xff, 0xfb, 0x00, 0x00]],
    ['no sample rate', [0xff, 0xfb, 0x9c, 0x00]],
  ])('is not suspected in samples without a type that begin with %s', async (_, head) => {
    const heard = await heardOf((response) => response.end(Buffer.from([...head, ...Buffer.alloc(47_996)])));
    expect(heard).toEqual([8000, 8000]);
  });
});

describe('a WAV file', () => {
  it.each([
    ['its head alone in the first chunk', [44]],
    ['one octet in the first chunk', [1]],
    ['its head in three chunks', [12, 36]],
    ['an odd number of octets in a chunk', [45, 101]],
  ])('with %s is heard at its own rate, without its head', async (_, cuts) => {
    const file = wav(16_000);
    const bounds = [0, ...cuts, file.length];
    const parts = cuts.concat(file.length).map((end, i) => file.subarray(bounds[i], end));
    expect(await heardOf((response) => void inParts(response, parts))).toEqual([8000, 8000]);
  });

  const unknown = [0, 36, 0xffffffff, 0x7fffffff];
  it.each(unknown.flatMap((whole) => [0, 0xffffffff, 0x7fffffff].map((data) => [whole, data] as const)))(
    'whose sizes are %d and %d because it is streamed is heard whole, of one channel and of two',
    async (whole, data) => {
      for (const channels of [1, 2]) {
        const file = writeWav({ samples: new Int16Array(channels * 16_000).fill(7), sampleRate: 16_000 });
        const view = new DataView(file.buffer);
        view.setUint16(22, channels, true);
        view.setUint32(4, whole, true);
        view.setUint32(40, data, true);
        const parts = [file.subarray(0, 1001), file.subarray(1001)];
        expect(await heardOf((response) => void inParts(response, parts))).toEqual([8000, 8000]);
      }
    },
  );

  it('that is empty is no speech, although other chunks follow', async () => {
    const file = new Uint8Array(
      Buffer.concat([wav(8000).subarray(0, 44), Buffer.from('LIST\x04\0\0\0INFO')]),
    );
    const view = new DataView(file.buffer);
    view.setUint32(4, file.length - 8, true);
    view.setUint32(40, 0, true);
    const heard = await heardOf((response) => response.end(file));
    for (const why of heard) expect(why).toBe('the speech server answered without audio');
  });
});

it.each([
  ['no octet', 0],
  ['half a sample', 1],
])('an answer of %s is no speech', async (_, octets) => {
  const heard = await heardOf((response) => response.end(Buffer.alloc(octets)));
  for (const why of heard) expect(why).toContain('the speech server answered without audio');
});

it.each([
  [48_000, 8000],
  [16_000, 24_000],
  [8000, 48_000],
  // Nobody speaks at that rate.
  [1, 16_000],
])('raw samples have the rate that their type names: %d Hz', async (rate, samples) => {
  const heard = await heardOf((response) => {
    response.setHeader('content-type', `audio/pcm; rate=${rate}`);
    response.end(Buffer.alloc(96_000));
  });
  expect(heard).toEqual([samples, samples]);
});

it('speech that comes at once is converted in small pieces, between which other work runs', async () => {
  const body = Buffer.alloc(10 * 48_000, 1);
  const tts = await voiceWith((response) => response.end(body));
  const pieces: { samples: number; turn: number }[] = [];
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    for await (const piece of tts.stream('Hi', english, new AbortController().signal))
      pieces.push({ samples: piece.length, turn });
  } finally {
    isOver = true;
  }
  expect(pieces.reduce((sum, { samples }) => sum + samples, 0)).toBe(80_000);
  expect(Math.max(...pieces.map(({ samples }) => samples))).toBeLessThan(1400);
  const perTurn = Map.groupBy(pieces, ({ turn: of }) => of);
  // The last one, and what the filter holds back.
  expect(Math.max(...[...perTurn.values()].map(({ length }) => length))).toBeLessThanOrEqual(2);
});
