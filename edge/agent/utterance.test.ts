import { expect, it } from 'vitest';
import { Utterance } from './utterance.ts';

/** Frames of 20 ms, the samples of each its number. */
function hear(utterance: Utterance, from: number, to: number): void {
  for (let frame = from; frame < to; frame++) utterance.append(new Int16Array(160).fill(frame));
}

it.each([
  ['at once', 0, 85],
  ['400 ms late', 400, 65],
  ['a second late', 1000, 35],
])('begins 300 ms before the sound by which a voice was noticed %s', (_, lateMs, first) => {
  const utterance = new Utterance(8000, true);
  hear(utterance, 0, 100);
  utterance.begin(lateMs);
  hear(utterance, 100, 110);
  utterance.begin(0);
  const samples = utterance.take();
  expect([samples[0], samples.length]).toEqual([first, 160 * (110 - first)]);
});

it('keeps little of what is before a voice', () => {
  const utterance = new Utterance(16_000, true);
  for (let frame = 0; frame < 1000; frame++) utterance.append(new Int16Array(320));
  expect(utterance.soFar()).toHaveLength(16 * 1300);
  expect(utterance.full(320)).toBe(false);
});
