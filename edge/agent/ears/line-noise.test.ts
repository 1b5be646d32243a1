import { expect, it } from 'vitest';
import { LineNoise } from './line-noise.ts';

/** Pieces of 20 ms. */
function judge(noise: LineNoise, ms: number, heard: boolean, probability: number, level = 500): void {
  for (let at = 0; at < ms; at += 20) noise.judged(20, level, heard, probability);
}

it('takes a line for noisy until it is known', () => {
  const noise = new LineNoise();
  judge(noise, 4980, false, 0);
  expect(noise.much).toBe(true);
  judge(noise, 20, false, 0);
  expect(noise.much).toBe(false);
});

it('finds much noise where the first stage hears for long what is no voice, and forgets it', () => {
  const noise = new LineNoise();
  judge(noise, 5000, false, 0);
  judge(noise, 2000, true, 0.9);
  expect(noise.much).toBe(false);
  judge(noise, 500, true, 0.1);
  expect(noise.much).toBe(true);
  judge(noise, 3000, false, 0);
  expect(noise.much).toBe(false);
});

it('lets pass what is twice as loud as the noise of late', () => {
  const noise = new LineNoise();
  expect(noise.isExceeded(100)).toBe(true);
  judge(noise, 1000, true, 0.1, 500);
  judge(noise, 1000, true, 0.9, 4000);
  expect([noise.isExceeded(850), noise.isExceeded(1010)]).toEqual([false, true]);
  judge(noise, 12_000, false, 0);
  expect(noise.isExceeded(300)).toBe(true);
});
