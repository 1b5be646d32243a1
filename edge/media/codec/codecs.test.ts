import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CodecName, codecNames } from '#shared/codecs.ts';
import { g711 } from '#shared/g711.ts';
import { libraryLoader, lookForLibrariesIn } from '#shared/native-library.ts';
import { type AgentRate, type AudioCodec, decodeBuffer } from './codec.ts';
import { availableCodecs, codecAvailable, createCodec } from './codecs.ts';
import { opusDuration } from './opus.ts';
import { Downsampler, Upsampler } from './resample.ts';
import { Resampled } from './resampled.ts';

const rates: readonly AgentRate[] = [8000, 16000];

function tone(rate: number, frequency: number, samples: number, amplitude = 10000): Int16Array {
  return Int16Array.from(
    { length: samples },
    (_, i) => amplitude * Math.sin((2 * Math.PI * frequency * i) / rate),
  );
}

/** Encodes and decodes frame by frame. */
function through(codec: AudioCodec, pcm: Int16Array): Int16Array {
  const size = codec.samplesPerFrame;
  const result = new Int16Array(pcm.length);
  const payload = new Uint8Array(400);
  const decoded = decodeBuffer(codec.sampleRate);
  for (let at = 0; at + size <= pcm.length; at += size) {
    const length = codec.encode(pcm.subarray(at, at + size), payload);
    const count = codec.decode(payload.subarray(0, length), decoded);
    expect(count).toBe(size);
    result.set(decoded.subarray(0, count), at);
  }
  return result;
}

/** Signal to noise ratio in dB at the best delay up to `maxLag` samples, independent of gain. */
function signalToNoise(sent: Int16Array, received: Int16Array, maxLag: number): number {
  let best = -99;
  const from = sent.length >> 2;
  for (let lag = 0; lag <= maxLag; lag++) {
    let both = 0;
    let power = 0;
    let reference = 0;
    for (let i = from; i + lag < received.length; i++) {
      const x = sent[i] ?? 0;
      const y = received[i + lag] ?? 0;
      both += x * y;
      power += y * y;
      reference += x * x;
    }
    const noise = reference - (both * both) / (power || 1);
    best = Math.max(best, 10 * Math.log10(reference / Math.max(noise, 1e-9)));
  }
  return best;
}

describe('G.711', () => {
  // Values of ITU-T G.711 tables 1 and 2 at both ends and around zero.
  const muLaw: [number, number][] = [
    [0x80, 32124],
    [0x00, -32124],
    [0xff, 0],
    [0x7f, 0],
    [0xfe, 8],
    [0x7e, -8],
    [0x8f, 16764],
  ];
  it.each(muLaw)('decodes mu-law %i to %i', (code, sample) => {
    const out = new Int16Array(1);
    createCodec('PCMU', 8000).decode(Uint8Array.of(code), out);
    expect(out[0]).toBe(sample);
  });

  const aLaw: [number, number][] = [
    [0xaa, 32256],
    [0x2a, -32256],
    [0xd5, 8],
    [0x55, -8],
    [0xd4, 24],
  ];
  it.each(aLaw)('decodes A-law %i to %i', (code, sample) => {
    const out = new Int16Array(1);
    createCodec('PCMA', 8000).decode(Uint8Array.of(code), out);
    expect(out[0]).toBe(sample);
  });

  it.each(['PCMU', 'PCMA'] as const)(
    '%s encodes each decoded code back to itself, except for the negative zero',
    (name) => {
      const codec = createCodec(name, 8000);
      const codes = Uint8Array.from({ length: 160 }, (_, i) => i);
      for (const offset of [0, 96]) {
        const sent = codes.map((code) => code + offset);
        const pcm = new Int16Array(160);
        createCodec(name, 8000).decode(sent, pcm);
        const back = new Uint8Array(160);
        expect(codec.encode(pcm, back)).toBe(160);
        expect(back).toEqual(name === 'PCMU' ? sent.map((code) => (code === 0x7f ? 0xff : code)) : sent);
      }
    },
  );

  it.each(['PCMU', 'PCMA'] as const)(
    '%s has a code for every sample, no further than the next level',
    (name) => {
      const { toLinear, fromLinear } = g711[name];
      const levels = [...new Set(toLinear)].sort((one, other) => one - other);
      const wrong: number[] = [];
      let at = 0;
      for (let sample = -32768; sample < 32768; sample++) {
        const level = toLinear[fromLinear[sample & 0xffff] ?? 0] ?? 0;
        // From the lowest to the highest, one after the other.
        if (levels[at] !== level) at++;
        const step = Math.max(...[at - 1, at + 1].map((next) => Math.abs((levels[next] ?? level) - level)));
        const clips = sample < (levels[0] ?? 0) || sample > (levels.at(-1) ?? 0);
        if (levels[at] !== level || (!clips && Math.abs(sample - level) > step / 2 + 1)) wrong.push(sample);
      }
      expect(wrong).toEqual([]);
      expect(at).toBe(levels.length - 1);
    },
  );

  it('clips at the ends of the range without wrapping', () => {
    const codec = createCodec('PCMU', 8000);
    const pcm = new Int16Array(160).fill(32767).fill(-32768, 80);
    const payload = new Uint8Array(160);
    codec.encode(pcm, payload);
    expect([payload[0], payload[80]]).toEqual([0x80, 0x00]);
  });
});

describe('every codec', () => {
  const table = codecNames.flatMap((name) => rates.map((rate) => [name, rate] as const));
  const present = table.filter(([name]) => codecAvailable(name).available);
  const missing = table.filter(([name]) => !codecAvailable(name).available);

  it('is either available or says what to install', () => {
    expect(availableCodecs()).toEqual(expect.arrayContaining(['PCMU', 'PCMA']));
    for (const [name, rate] of missing) {
      expect(codecAvailable(name)).toMatchObject({
        reason: expect.stringMatching(/install the package lib/),
      });
      expect(() => createCodec(name, rate)).toThrow(/install the package lib/);
    }
  });

  const leastQuality: Readonly<Record<CodecName, number>> = {
    PCMU: 35,
    PCMA: 35,
    Opus: 20,
    'G.722': 30,
    'G.729': 15,
  };
  it.each(present)('%s at %i Hz passes a tone', (name, rate) => {
    const codec = createCodec(name, rate);
    const sent = tone(rate, 440, rate);
    expect(signalToNoise(sent, through(codec, sent), rate / 50)).toBeGreaterThan(leastQuality[name]);
    codec.close();
  });

  it.each(present)('%s at %i Hz reports the length of its own packets', (name, rate) => {
    const codec = createCodec(name, rate);
    const payload = new Uint8Array(400);
    for (let i = 0; i < 5; i++) {
      const length = codec.encode(tone(rate, 300 + i * 100, rate / 50), payload);
      expect(codec.duration(payload.subarray(0, length))).toBe(codec.clockRate / 50);
    }
    codec.close();
  });

  it.each(present)(
    '%s at %i Hz conceals a lost frame of a tone, and fades when no more packets arrive',
    (name, rate) => {
      const codec = createCodec(name, rate);
      through(codec, tone(rate, 400, rate / 5));
      const out = decodeBuffer(rate);
      const level = () => {
        const count = codec.conceal(out);
        expect(count).toBe(rate / 50);
        return Math.sqrt(out.subarray(0, count).reduce((sum, sample) => sum + sample * sample, 0) / count);
      };
      expect(level()).toBeGreaterThan(2000);
      for (let i = 0; i < 40; i++) level();
      expect(level()).toBeLessThan(300);
      codec.close();
    },
  );

  it.each(present)('%s at %i Hz survives any payload', (name, rate) => {
    const codec = createCodec(name, rate);
    const out = decodeBuffer(rate);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1200 }), (payload) => {
        const count = codec.decode(payload, out);
        expect(count).toBeGreaterThanOrEqual(0);
        expect(count).toBeLessThanOrEqual(out.length);
        expect(codec.duration(payload)).toBeGreaterThanOrEqual(0);
        expect(codec.conceal(out, payload)).toBe(rate / 50);
      }),
      { numRuns: 100 },
    );
    codec.close();
  });

  it.each(present)('%s at %i Hz is harmless after it was closed, twice', (name, rate) => {
    const codec = createCodec(name, rate);
    const payload = new Uint8Array(400);
    const length = codec.encode(new Int16Array(rate / 50), payload);
    codec.close();
    codec.close();
    const out = decodeBuffer(rate);
    codec.encode(new Int16Array(rate / 50), payload);
    codec.decode(payload.subarray(0, length), out);
    expect(codec.conceal(out)).toBe(rate / 50);
  });

  it('decodes packets of 10 to 60 ms of G.711', () => {
    const codec = createCodec('PCMA', 16000);
    const out = decodeBuffer(16000);
    for (const ms of [10, 20, 30, 40, 60]) {
      expect(codec.decode(new Uint8Array(ms * 8).fill(0xd5), out)).toBe(ms * 16);
    }
  });
});

describe.runIf(codecAvailable('Opus').available)('Opus', () => {
  it('recovers a lost frame from the packet after it', () => {
    const rate = 16000;
    const sender = createCodec('Opus', rate, 'useinbandfec=1');
    const guessing = createCodec('Opus', rate);
    const recovering = createCodec('Opus', rate);
    // A sweep: the next frame cannot be predicted from the previous ones.
    const sweep = Int16Array.from(
      { length: rate },
      (_, i) => 9000 * Math.sin(2 * Math.PI * (200 + i / 20) * (i / rate)),
    );
    const out = decodeBuffer(rate);
    const packets: Uint8Array[] = [];
    for (let at = 0; at < sweep.length; at += 320) {
      const payload = new Uint8Array(400);
      packets.push(payload.subarray(0, sender.encode(sweep.subarray(at, at + 320), payload)));
    }
    const lose = (codec: AudioCodec, withNext: boolean) => {
      const result = new Int16Array(sweep.length);
      for (const [i, packet] of packets.entries()) {
        const lost = i % 10 === 9 && i < 49;
        const count = lost ? codec.conceal(out, withNext ? packets[i + 1] : null) : codec.decode(packet, out);
        result.set(out.subarray(0, count), i * 320);
      }
      return signalToNoise(sweep, result, 320);
    };
    const recovered = lose(recovering, true);
    expect(recovered).toBeGreaterThan(lose(guessing, false) + 1);
    for (const codec of [sender, guessing, recovering]) codec.close();
  });

  it('respects the bit rate limit of the peer', () => {
    const octets = (fmtp: string) => {
      const codec = createCodec('Opus', 16000, fmtp);
      const payload = new Uint8Array(400);
      let sum = 0;
      for (let i = 0; i < 50; i++) sum += codec.encode(tone(16000, 300 + 40 * i, 320), payload);
      codec.close();
      return sum;
    };
    expect(octets('maxaveragebitrate=8000')).toBeLessThan(1300);
    expect(octets('')).toBeGreaterThan(2000);
  });
});

describe.runIf(codecAvailable('Opus').available)('the memory of libopus', () => {
  it('is freed by close', () => {
    const open = (count: number) => {
      for (let i = 0; i < count; i++) {
        const codec = createCodec('Opus', 16000);
        codec.encode(new Int16Array(320), new Uint8Array(400));
        codec.close();
      }
    };
    open(300);
    const before = process.memoryUsage().rss;
    open(1500);
    // Unclosed, they would hold 60 kB each: 90 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
  });
});

describe('opusDuration', () => {
  const table: [string, number[], number][] = [
    ['SILK 20 ms', [0x08], 960],
    ['SILK 60 ms', [0x18], 2880],
    ['hybrid 10 ms', [0x60], 480],
    ['CELT 2.5 ms', [0x80], 120],
    ['CELT 20 ms', [0x98], 960],
    ['two frames of 20 ms', [0x09], 1920],
    ['three counted frames of 20 ms', [0x0b, 0x03], 2880],
    ['more than 120 ms', [0x1b, 0x03], 0],
    ['a count that is missing', [0x0b], 0],
    ['nothing', [], 0],
  ];
  it.each(table)('handles %s', (_, payload, ticks) => {
    expect(opusDuration(Uint8Array.from(payload))).toBe(ticks);
  });
});

describe('resampling', () => {
  const level = (pcm: Int16Array) =>
    Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length);
  const decibels = (out: Int16Array) =>
    20 * Math.log10(level(out.subarray(out.length >> 1)) / (10000 / Math.SQRT2));

  it.each([100, 1000, 3000, 3400])('passes %i Hz unchanged both ways', (frequency) => {
    const up = new Int16Array(16000);
    new Upsampler(8000).process(tone(8000, frequency, 8000), 8000, up);
    expect(Math.abs(decibels(up))).toBeLessThan(0.1);
    const down = new Int16Array(8000);
    new Downsampler(16000).process(tone(16000, frequency, 16000), 16000, down);
    expect(Math.abs(decibels(down))).toBeLessThan(0.1);
  });

  it.each([4700, 6000, 7500])('keeps %i Hz from folding into the telephone band', (frequency) => {
    const down = new Int16Array(8000);
    new Downsampler(16000).process(tone(16000, frequency, 16000), 16000, down);
    expect(decibels(down)).toBeLessThan(-50);
  });

  it('gives the same for one long block and many short ones', () => {
    const input = tone(8000, 700, 1600);
    const whole = new Int16Array(3200);
    new Upsampler(1600).process(input, 1600, whole);
    const upsampler = new Upsampler(160);
    const parts = new Int16Array(3200);
    for (let at = 0; at < 1600; at += 160) {
      upsampler.process(input.subarray(at, at + 160), 160, parts.subarray(2 * at));
    }
    expect(parts).toEqual(whole);
  });
});

it('reports a missing library instead of failing', () => {
  const load = libraryLoader('libnosuchcodec.so.9', 'libnosuchcodec9', () => ({}));
  expect(load()).toEqual({
    reason: expect.stringMatching(
      /libnosuchcodec\.so\.9 cannot be loaded \(install the package libnosuchcodec9\)/,
    ),
  });
});

it('are looked up in a configured folder', () => {
  lookForLibrariesIn('/nonexistent');
  try {
    expect(libraryLoader('libspandsp.so.2', 'libspandsp2', () => ({}))()).toEqual({
      reason: expect.stringContaining('/nonexistent/libspandsp.so.2'),
    });
  } finally {
    lookForLibrariesIn(null);
  }
});

// An agent may never listen, and its leg lasts as long as the call.
it.each(codecNames.flatMap((name) => rates.map((rate) => ({ name, rate }))))(
  '$name at $rate Hz keeps no audio of the peer before its first packet',
  ({ name, rate }) => {
    const first = createCodec(name, rate);
    first.close();
    // To encode, another rate needs a frame and the filter's samples.
    const forEncoding = first instanceof Resampled ? 1500 : 100;
    const before = process.memoryUsage().arrayBuffers;
    const codecs = Array.from({ length: 100 }, () => createCodec(name, rate));
    const kept = (process.memoryUsage().arrayBuffers - before) / codecs.length;
    for (const codec of codecs) codec.close();
    expect(kept).toBeLessThan(forEncoding);
  },
);
