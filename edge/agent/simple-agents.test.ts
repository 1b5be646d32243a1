import { describe, expect, it } from 'vitest';
import { EchoAgent } from './echo-agent.ts';
import { decodeMulaw, encodeMulaw } from './stream-messages.ts';
import { ToneAgent } from './tone-agent.ts';

describe('the tone agent', () => {
  it.each([440, 1000, 1004.5, 3999])('plays %d Hz without a gap between frames', async (frequency) => {
    const agent = new ToneAgent(frequency);
    await agent.prepare();
    const { sampleRate } = agent;
    const frame = new Int16Array(sampleRate / 50);
    const samples: number[] = [];
    for (let i = 0; i < 50; i++) {
      expect(agent.read(frame)).toBe(true);
      samples.push(...frame);
    }
    const expected = samples.map((_, n) =>
      Math.round(8191 * Math.sin((2 * Math.PI * frequency * n) / sampleRate)),
    );
    expect(
      Math.max(...samples.map((sample, n) => Math.abs(sample - (expected[n] ?? 0)))),
    ).toBeLessThanOrEqual(1);
  });

  it('plays frequencies beyond 8 kHz sampling at 16 kHz', () => {
    expect([new ToneAgent(3000).sampleRate, new ToneAgent(5000).sampleRate]).toEqual([8000, 16000]);
  });

  it.each([0, -1, 8000, Number.NaN])('rejects a call with %d Hz', async (frequency) => {
    await expect(new ToneAgent(frequency).prepare()).rejects.toThrow('cannot be played');
  });
});

describe('the echo agent', () => {
  it('is silent until it has heard something, then plays it back', () => {
    const agent = new EchoAgent();
    const frame = new Int16Array(160);
    expect(agent.read(frame)).toBe(false);
    agent.write(new Int16Array(160).fill(7));
    agent.write(new Int16Array(160).fill(8));
    expect(agent.read(frame)).toBe(true);
    expect(frame.every((sample) => sample === 7)).toBe(true);
    expect(agent.read(frame)).toBe(true);
    expect(frame.every((sample) => sample === 8)).toBe(true);
    expect(agent.read(frame)).toBe(false);
  });

  it('holds at most one second and drops the oldest', () => {
    const agent = new EchoAgent();
    for (let i = 0; i < 60; i++) agent.write(new Int16Array(160).fill(i));
    const frame = new Int16Array(160);
    const heard: (number | undefined)[] = [];
    while (agent.read(frame)) heard.push(frame[0]);
    expect(heard).toEqual(Array.from({ length: 50 }, (_, i) => i + 10));
  });
});

describe('mu-law', () => {
  it('decodes the values of G.711', () => {
    expect([...decodeMulaw(Uint8Array.of(0xff, 0x7f, 0x80, 0x00, 0xf0, 0x70))]).toEqual([
      0, 0, 32124, -32124, 120, -120,
    ]);
  });

  it('encodes what it decoded to the same octet, except for the two zeroes', () => {
    const all = Uint8Array.from({ length: 256 }, (_, code) => code);
    const again = new Uint8Array(256);
    encodeMulaw(decodeMulaw(all), again);
    expect([...again]).toEqual([...all].map((code) => (code === 0x7f ? 0xff : code)));
  });
});
