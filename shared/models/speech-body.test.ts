/** Words and compressed sound in a body of samples are recognized, and no samples are taken for them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Flite } from './flite.ts';
import { beforeWords, speechBody, withWholeHead } from './speech-body.ts';

async function* of(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** The octets that are played, and why the rest is not. */
async function heardOf(chunks: readonly Uint8Array[]): Promise<{ octets: Buffer; why: string | null }> {
  const heard: Uint8Array[] = [];
  try {
    for await (const chunk of beforeWords(withWholeHead(of(chunks)))) heard.push(chunk);
    return { octets: Buffer.concat(heard), why: null };
  } catch (error) {
    return { octets: Buffer.concat(heard), why: error instanceof Error ? error.message : String(error) };
  }
}

/** Cut into pieces of these lengths, again and again. */
function pieces(body: Buffer, lengths: readonly number[]): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0, i = 0; at < body.length; i++) {
    const length = lengths[i % lengths.length] ?? body.length;
    cut.push(body.subarray(at, at + length));
    at += length;
  }
  return cut;
}

const octetsOf = (samples: Int16Array) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

const tone = (level: number, period: number, samples = 2000) =>
  octetsOf(Int16Array.from({ length: samples }, (_, at) => level * Math.sin((2 * Math.PI * at) / period)));

const page = `<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>\n${'<!-- padding -->\n'.repeat(40)}</body></html>\n`;

it.each([
  ['JSON', '{"error":{"message":"the model has failed","code":500}}'],
  ['JSON of several lines', '{\r\n  "error": "overloaded"\r\n}\r\n'],
  ['JSON in another script', '{"error":"сервер перегружен, 请稍后再试"}'],
  ['a short error', '{"code":500}'],
  ['a list', '[{"error":"overloaded"}]'],
  ['a page', page],
  ['a page in small letters', '<html><body>Gateway Timeout</body></html>'],
  ['XML', '<?xml version="1.0"?><Error><Code>SlowDown</Code></Error>'],
  ['a plain text', 'upstream connect error or disconnect/reset before headers. reset reason: overflow\n'],
  ['a short plain text', 'Internal Server Error'],
  ['a plain text in capitals', 'QUOTA EXCEEDED FOR THIS KEY'],
])('%s after sound is not heard, however the body is cut', async (_, words) => {
  const sound = Buffer.concat([tone(9000, 40), tone(30_000, 400), Buffer.alloc(500), tone(20, 100)]);
  // A bracket is one octet.
  const begin = sound.length + Math.max(0, words.search(/[{<]/));
  const body = Buffer.concat([sound, Buffer.from(words)]);
  const cuts = [
    [body.length],
    [sound.length, words.length],
    [sound.length + 7, 100],
    [1000],
    [4096],
    [1460, 17],
  ];
  for (const lengths of cuts) {
    const { octets, why } = await heardOf(pieces(body, lengths));
    expect(why).toContain('the speech server sent words in place of sound: ');
    expect(octets.equals(body.subarray(0, begin))).toBe(true);
  }
});

it('no sound is taken for words: tones, pulses and noise of all levels, and silence', async () => {
  const level = fc.integer({ min: -32_768, max: 32_767 });
  const sounds = fc.oneof(
    fc.tuple(level, fc.integer({ min: 2, max: 800 })).map(([high, period]) => tone(high, period)),
    // Pulses: one sample again and again, also one whose octets are `{"`.
    fc
      .tuple(fc.oneof(level, fc.constant(0x227b)), level, fc.integer({ min: 1, max: 300 }))
      .map(([high, low, width]) =>
        octetsOf(Int16Array.from({ length: 1000 }, (_, at) => (at % (2 * width) < width ? high : low))),
      ),
    fc.array(level, { minLength: 30, maxLength: 400 }).map((samples) => octetsOf(Int16Array.from(samples))),
    // Few letters again and again, as pulses of several levels have them.
    fc
      .array(fc.constantFrom(0x4141, 0x6162, 0x2020, 0x7a7a), { minLength: 30, maxLength: 400 })
      .map((samples) => octetsOf(Int16Array.from(samples))),
  );
  const lengths = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(sounds, lengths, async (body, cuts) => {
      const { octets, why } = await heardOf(pieces(body, cuts));
      expect(why).toBeNull();
      expect(octets.equals(body)).toBe(true);
    }),
    { numRuns: 400 },
  );
});

it('words in a file are its own', async () => {
  const file = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(100), Buffer.from('{"made":"by a server"}')]);
  expect(await heardOf([file])).toEqual({ octets: file, why: null });
});

/** The format of a body by its first chunk, or why there is none. */
async function formatOf(chunks: readonly Uint8Array[]): Promise<unknown> {
  for await (const head of withWholeHead(of(chunks))) {
    try {
      return speechBody('audio/pcm', head, 24_000);
    } catch (error) {
      return error instanceof Error ? error.message : error;
    }
  }
  return null;
}

describe('AAC without a file around it', () => {
  /** @param rate its index in ISO/IEC 13818-7 table 35 */
  function frame(length: number, rate = 6, crc = false): Buffer {
    const octets = Buffer.alloc(length, 0xa5);
    const fixed = [0xff, crc ? 0xf0 : 0xf1, 0x40 | (rate << 2), 0x40 | (length >> 11)];
    octets.set([...fixed, (length >> 3) & 0xff, ((length & 7) << 5) | 0x1f, 0xfc]);
    return octets;
  }
  const refused = 'the speech server sent AAC in place of 16-bit PCM';

  it.each([
    ['at 24 kHz', [180, 211, 197, 205]],
    ['at 48 kHz, with checksums', [400, 371, 388], 3, true],
    ['in one frame', [170]],
    ['in two frames', [170, 90]],
    ['in long frames', [8191, 6000, 8000, 7]],
  ])('is recognized %s, however the body is cut', async (_, lengths, rate = 6, crc = false) => {
    const body = Buffer.concat(lengths.map((length) => frame(length, rate, crc)));
    for (const cut of [[body.length], [1], [45], [180], [1460]])
      expect(await formatOf(pieces(body, cut))).toBe(refused);
  });

  it('is not suspected where the next frame is of another format, or none', async () => {
    for (const next of [frame(180, 7), Buffer.alloc(180), frame(180).subarray(1)]) {
      const body = Buffer.concat([frame(180), next, frame(180)]);
      for (const cut of [[body.length], [45], [100]]) expect(await formatOf(pieces(body, cut))).toBe(24_000);
    }
  });

  it('is not suspected in samples: silence, tones, and speech from any sample on', async () => {
    const flite = new Flite();
    const spoken = await flite.synthesize('The quick brown fox jumps over the lazy dog, twice a day.', {
      voice: null,
      language: 'en-US',
      sampleRate: 16_000,
    });
    await flite.close();
    const sounds = [Buffer.alloc(20_000), Buffer.alloc(20_000, 0xff), octetsOf(spoken.slice())];
    // All levels: each has samples whose octets are the sync word.
    for (let level = 4000; level < 32_768; level += 57) sounds.push(tone(level, 16 + (level % 97), 3000));
    let syncs = 0;
    for (const sound of sounds) {
      for (let at = 0; at + 1 < sound.length; at++) {
        if (at > 0 && !(sound[at] === 0xff && ((sound[at + 1] ?? 0) & 0xf6) === 0xf0)) continue;
        syncs++;
        const body = sound.subarray(at);
        if (body.length >= 20) expect(await formatOf([body])).toBe(24_000);
      }
    }
    expect(syncs).toBeGreaterThan(1000);
  });
});
