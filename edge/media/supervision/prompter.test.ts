/** Words for one side of a leg, by known tones and without any packets. */
import { describe, expect, it } from 'vitest';
import { share, tone } from '../../../test/kit/fakes/audio.ts';
import type { AudioEndpoint } from '../../call/ports/media.ts';
import { Prompter } from './prompter.ts';

type Rate = AudioEndpoint['sampleRate'];
const hz = { near: 500, far: 900, words: 1400 } as const;

/** A second of a call in which both speak, or nobody, while 0.4 s of words are said. */
function second(side: 'near' | 'far', sampleRate: Rate, speak = true, texts = [tone(hz.words, 3200)]) {
  let done = 0;
  const prompter = new Prompter(side, () => done++);
  for (const text of texts) prompter.say(text);
  const heard = { near: [] as number[], far: [] as number[] };
  const sounding: boolean[] = [];
  const samples = sampleRate / 50;
  let at = 0;
  const tap = prompter.tap({
    sampleRate,
    read: (frame) => {
      frame.set(tone(hz.far, samples, at, 6000, sampleRate));
      return speak;
    },
    write: (frame) => void heard.far.push(...frame),
  });
  const frame = new Int16Array(samples);
  for (let turn = 0; turn < 50; turn++, at += samples) {
    const sounds = tap.read(frame);
    sounding.push(sounds);
    if (!sounds) frame.fill(0);
    heard.near.push(...frame);
    frame.set(speak ? tone(hz.near, samples, at, 6000, sampleRate) : new Int16Array(samples));
    tap.write?.(frame);
  }
  const part = (of: number[], which: number, from: number, to: number) =>
    share(Int16Array.from(of.slice(from * sampleRate, to * sampleRate)), which, sampleRate);
  return { heard, part, sounding, done, speaks: prompter.speaks };
}

describe.each<Rate>([8000, 16_000])('words at %i Hz', (sampleRate) => {
  it.each([
    ['near', 'far'],
    ['far', 'near'],
  ] as const)(
    'for the %s side are mixed with what that hears, and are not heard on the %s',
    (side, other) => {
      const { heard, part, done, speaks } = second(side, sampleRate);
      // Twice as loud as the voices: four parts of five.
      expect(part(heard[side], hz.words, 0.1, 0.38)).toBeCloseTo(0.8, 2);
      expect(part(heard[side], hz[other], 0.1, 0.38)).toBeCloseTo(0.2, 2);
      expect(part(heard[other], hz[side], 0.1, 0.38)).toBeGreaterThan(0.99);
      expect(part(heard[side], hz[other], 0.5, 1)).toBeGreaterThan(0.99);
      expect([done, speaks]).toEqual([1, false]);
    },
  );

  it('are heard where nobody speaks', () => {
    const { heard, part, sounding } = second('near', sampleRate, false);
    expect(part(heard.near, hz.words, 0.1, 0.38)).toBeGreaterThan(0.95);
    expect(sounding).toEqual(Array.from({ length: 50 }, (_, turn) => turn < 20));
  });

  it('follow one another, the last frame filled with silence', () => {
    const { sounding, done } = second('near', sampleRate, false, [tone(1000, 1601), tone(600, 160)]);
    expect(sounding.filter(Boolean)).toHaveLength(12);
    expect(done).toBe(1);
  });
});
