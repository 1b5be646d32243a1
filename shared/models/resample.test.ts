/** Sound at another rate: the same whether it comes in pieces or whole, without taking the thread for long. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { resample, StreamResampler } from './resample.ts';

const sine = (frequency: number, rate: number, seconds = 0.5) =>
  Int16Array.from({ length: rate * seconds }, (_, n) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * frequency * n) / rate)),
  );

it.each([
  [24_000, 8000],
  [16_000, 24_000],
  [8000, 16_000],
  [8000, 8000],
])('gives the same in pieces of any length as at once, from %d to %d Hz', async (from, to) => {
  const lengths = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(lengths, async (pieces) => {
      const total = pieces.reduce((sum, length) => sum + length, 0);
      const input = sine(1000, from).slice(0, total);
      const resampler = new StreamResampler(from, to);
      const output: number[] = [];
      let at = 0;
      for (const length of pieces) {
        output.push(...resampler.push(input.slice(at, at + length)));
        at += length;
      }
      output.push(...resampler.flush());
      expect(output).toEqual([...(await resample(input, from, to))]);
    }),
    { numRuns: 10 },
  );
});

it.each([
  [16_000, 8000],
  [24_000, 8000],
  [24_000, 16_000],
  [8000, 16_000],
  [22_050, 8000],
])('keeps a tone from %d to %d Hz within 1 %% of its samples', async (from, to) => {
  const output = await resample(sine(1000, from), from, to);
  const expected = sine(1000, to);
  expect(Math.abs(output.length - expected.length)).toBeLessThanOrEqual(1);
  let worst = 0;
  for (let i = 200; i < expected.length - 200; i++)
    worst = Math.max(worst, Math.abs((output[i] ?? 0) - (expected[i] ?? 0)));
  expect(worst).toBeLessThan(100);
});

it('removes what the lower rate cannot represent', async () => {
  const output = await resample(sine(5000, 16_000), 16_000, 8000);
  const loudest = output.subarray(200, -200).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  expect(loudest).toBeLessThan(10);
});

it('lets other work run at each 2,000 samples of a long text', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await resample(new Int16Array(30 * 24_000), 24_000, 8000);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual((30 * 8000) / 2000 - 1);
});
