import { expect, it } from 'vitest';
import { holdMusic } from './hold-music.ts';

const frameSamples = 160;
const frames = 960;

function play(count: number): Int16Array {
  const music = holdMusic();
  const all = new Int16Array(count * frameSamples);
  const frame = new Int16Array(frameSamples);
  for (let i = 0; i < count; i++) {
    expect(music.read(frame)).toBe(true);
    all.set(frame, i * frameSamples);
  }
  return all;
}

it('repeats without a step between its end and its beginning', () => {
  const twice = play(2 * frames);
  const length = frames * frameSamples;
  expect(twice.subarray(length)).toEqual(twice.subarray(0, length));
  const steps = twice.subarray(1).map((sample, n) => Math.abs(sample - (twice[n] ?? 0)));
  const atSeam = steps[length - 1] ?? 0;
  const largest = steps.reduce((most, one) => Math.max(most, one), 0);
  expect(atSeam).toBeLessThan(largest / 2);
});

it('is as loud as speech, is never silent for long, and never clips', () => {
  const all = play(frames);
  const levels = Array.from({ length: frames }, (_, n) => {
    const part = all.subarray(n * frameSamples, (n + 1) * frameSamples);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / frameSamples);
  });
  const rms = Math.sqrt(levels.reduce((sum, level) => sum + level * level, 0) / frames);
  // 0 dBm0 is 3.14 dB below full scale of a sine (ITU-T G.711).
  const dbm0 = 20 * Math.log10(rms / (32767 / Math.SQRT2)) + 3.14;
  expect(dbm0).toBeGreaterThan(-24);
  expect(dbm0).toBeLessThan(-14);
  expect(Math.min(...levels)).toBeGreaterThan(50);
  expect(all.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThan(20_000);
});
