import { describe, expect, test } from 'vitest';
import { noiseKinds, type Weather } from '#shared/agent-test-weather.ts';
import { chance } from '#shared/chance.ts';
import { CallerSound } from './caller-sound.ts';
import { noiseOf } from './noise.ts';

const rate = 8000;
const frameLength = rate / 50;
const seed = 11;

/** One frame of a tone that goes on from frame to frame. */
function tone(hertz: number, amplitude: number, frame: number): Int16Array {
  const samples = new Int16Array(frameLength);
  const from = frame * frameLength;
  return samples.map((_, i) => Math.round(amplitude * Math.sin((2 * Math.PI * hertz * (from + i)) / rate)));
}

const powerOf = (samples: readonly number[]) =>
  samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
const db = (power: number) => 10 * Math.log10(power);

/** What the agent hears in `frames` frames of a caller's tone. */
function sent(weather: Weather, hertz: number, amplitude: number, frames: number): number[] {
  const sound = new CallerSound(weather, chance(seed), rate);
  return Array.from({ length: frames }, (_, i) => {
    const frame = tone(hertz, amplitude, i);
    expect(sound.send(frame, true)).toBe(true);
    return [...frame];
  }).flat();
}

describe('noise', () => {
  test.each(noiseKinds)('of kind %s has a mean power of 1, whatever the seed', (kind) => {
    const levels = [1, 2, 3].map((one) => {
      const noise = noiseOf(kind, chance(one), rate);
      return db(powerOf(Array.from({ length: rate * 20 }, noise)));
    });
    for (const level of levels) expect(Math.abs(level)).toBeLessThan(2.5);
  });

  test.each([20, 5])('is %i dB below the caller in its pauses too', (snr_db) => {
    const sound = new CallerSound({ noise: { kind: 'white', snr_db } }, chance(seed), rate);
    // The level of the voice is known after some seconds.
    for (let i = 0; i < 500; i++) sound.send(tone(440, 8000, i), true);
    const pause = Array.from({ length: 200 }, () => {
      const frame = new Int16Array(frameLength).fill(99);
      expect(sound.send(frame, false)).toBe(true);
      return [...frame];
    }).flat();
    expect(db(8000 ** 2 / 2) - db(powerOf(pause))).toBeCloseTo(snr_db, 0);
  });

  test('is the same for the same seed, and another for another', () => {
    const of = (one: number) => {
      const noise = noiseOf('babble', chance(one), rate);
      return Array.from({ length: 100 }, noise);
    };
    expect(of(5)).toEqual(of(5));
    expect(of(5)).not.toEqual(of(6));
  });
});

describe('a given noise', () => {
  const noise = { kind: 'given', noise_id: '6f1c1f5e-3a63-4f0e-9d62-0d7b8f8f2b11', snr_db: 10 } as const;
  // Quieter than it is to be, and 25 frames long.
  const given = Int16Array.from({ length: 25 * frameLength }, (_, i) =>
    Math.round(500 * Math.sin((2 * Math.PI * 1000 * i) / rate)),
  );
  const heard = (one: number) => {
    const sound = new CallerSound({ noise }, chance(one), rate, given);
    return Array.from({ length: 100 }, () => {
      const frame = new Int16Array(frameLength);
      sound.send(frame, false);
      return [...frame];
    }).flat();
  };

  test('is behind the caller again and again, at the wanted level, from a place that the seed chooses', () => {
    const samples = heard(1);
    expect(db(1640 ** 2) - db(powerOf(samples))).toBeCloseTo(10, 1);
    expect(samples.slice(0, given.length)).toEqual(samples.slice(given.length, 2 * given.length));
    expect(heard(1)).toEqual(samples);
    expect(heard(2)).not.toEqual(samples);
  });

  test('is needed', () => {
    expect(() => new CallerSound({ noise }, chance(1), rate)).toThrow('the given noise is missing');
  });
});

test('without noise and echo a pause stays silent', () => {
  const sound = new CallerSound({ level_db: -6, telephone_band: true }, chance(seed), rate);
  expect(sound.send(new Int16Array(frameLength), false)).toBe(false);
});

test('the level is changed, and stops at full scale', () => {
  const quieter = sent({ level_db: -20 }, 440, 10_000, 50);
  expect(db(powerOf(quieter)) - db(10_000 ** 2 / 2)).toBeCloseTo(-20, 1);
  const louder = sent({ level_db: 12 }, 440, 30_000, 5);
  expect(Math.max(...louder)).toBe(32_767);
});

test('the telephone band keeps 1,000 Hz and takes 60 Hz away', () => {
  const of = (hertz: number) =>
    db(powerOf(sent({ telephone_band: true }, hertz, 8000, 100).slice(rate))) - db(8000 ** 2 / 2);
  expect(Math.abs(of(1000))).toBeLessThan(0.2);
  expect(of(60)).toBeLessThan(-25);
});

test('the agent comes back as echo once, after the delay, at its level', () => {
  const delay_ms = 130;
  const sound = new CallerSound({ echo: { delay_ms, level_db: -20 } }, chance(seed), rate);
  const back: number[] = [];
  for (let i = 0; i < 30; i++) {
    const frame = new Int16Array(frameLength);
    sound.send(frame, false);
    back.push(...frame);
    // The agent's only sound is one sample in the third frame.
    const heard = new Int16Array(frameLength);
    if (i === 2) heard[7] = 10_000;
    sound.hear(heard);
  }
  const echoes = [...back.entries()].filter(([, sample]) => sample !== 0);
  expect(echoes).toEqual([[2 * frameLength + 7 + (delay_ms * rate) / 1000, 1000]]);
});
