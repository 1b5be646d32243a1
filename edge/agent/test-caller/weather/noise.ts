/** Noise of several kinds, seeded, at a mean power of about 1. Pure. */
import type { NoiseKind } from '#shared/agent-test-weather.ts';
import type { Chance } from '#shared/chance.ts';
import { squaresOf } from '#shared/level.ts';

/** One sample after the other. */
export type Noise = () => number;

/** @param rate samples per second */
export function noiseOf(kind: NoiseKind, chance: Chance, rate: number): Noise {
  switch (kind) {
    case 'white':
      return white(chance);
    case 'pink':
      return pink(chance);
    case 'babble':
      return babble(chance, rate);
    case 'street':
      return street(chance, rate);
  }
}

/** Rate of given noises, Hz. */
const givenRate = 8000;

/** A given sound, again and again, from a place that the seed chooses. @param rate samples per second */
export function givenNoise(samples: Int16Array, chance: Chance, rate: number): Noise {
  const gain = 1 / Math.sqrt(Math.max(1, squaresOf(samples) / samples.length));
  let at = Math.floor(chance.next() * samples.length);
  return () => {
    const sample = samples[Math.floor(at)] ?? 0;
    at = (at + givenRate / rate) % samples.length;
    return sample * gain;
  };
}

/** Uniform, with a variance of 1. */
function white(chance: Chance): Noise {
  const most = Math.sqrt(3);
  return () => (2 * chance.next() - 1) * most;
}

/** Falls by 3 dB per octave: three leaky sums of white noise with poles an octave or more apart. */
function pink(chance: Chance): Noise {
  const source = white(chance);
  let slow = 0;
  let middle = 0;
  let fast = 0;
  return () => {
    const sample = source();
    slow = 0.997 * slow + 0.077 * sample;
    middle = 0.963 * middle + 0.27 * sample;
    fast = 0.57 * fast + 0.75 * sample;
    return (slow + middle + fast + 0.16 * sample) / 2.31;
  };
}

const talkers = 7;

/** People who talk at once: noise in the band of voices, which comes and goes with each one's syllables. */
function babble(chance: Chance, rate: number): Noise {
  const voices = Array.from({ length: talkers }, () => talker(chance, rate));
  const gain = 1 / Math.sqrt(talkers);
  return () => {
    let sum = 0;
    for (const voice of voices) sum += voice();
    return sum * gain;
  };
}

/** Syllables of 90 to 260 ms, words apart by as much, each at a level of its own. */
function talker(chance: Chance, rate: number): Noise {
  const source = white(chance);
  const low = 1 - Math.exp((-2 * Math.PI * (500 + 900 * chance.next())) / rate);
  const high = 1 - Math.exp((-2 * Math.PI * 180) / rate);
  let smooth = 0;
  let rumble = 0;
  let left = 0;
  let length = 1;
  let level = 0;
  // Brings the power, measured over minutes of all seeds, to about 1.
  const gain = 1.4 / Math.sqrt(low / (2 - low));
  return () => {
    if (left-- <= 0) {
      length = Math.round((0.09 + 0.17 * chance.next()) * rate);
      left = length;
      level = chance.next() < 0.3 ? 0 : 0.8 + 1.2 * chance.next();
    }
    smooth += low * (source() - smooth);
    rumble += high * (smooth - rumble);
    const within = Math.sin((Math.PI * (length - left)) / length);
    return (smooth - rumble) * gain * level * within;
  };
}

/** Low rumble, louder for some seconds when something passes. */
function street(chance: Chance, rate: number): Noise {
  const source = white(chance);
  const pole = Math.exp((-2 * Math.PI * 220) / rate);
  const gain = Math.sqrt(1 - pole * pole);
  let low = 0;
  let left = 0;
  let length = 1;
  let passing = 0;
  return () => {
    if (left-- <= 0) {
      length = Math.round((1.5 + 3.5 * chance.next()) * rate);
      left = length;
      passing = chance.next() < 0.5 ? 0 : 0.4 + 1.2 * chance.next();
    }
    const sample = source();
    low = pole * low + gain * sample;
    const swell = passing * Math.sin((Math.PI * (length - left)) / length) ** 2;
    return (0.85 * low + 0.15 * sample) * (0.85 + swell);
  };
}
