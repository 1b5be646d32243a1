import { expect, it } from 'vitest';
import { pauseAfter, pauseAfterCrash } from './under-way.ts';

it.each([
  [1, 5_000],
  [2, 20_000],
  [3, 80_000],
  [4, 320_000],
  [5, 86_400_000],
  [100, 86_400_000],
])('work that must not be dropped waits after attempt %i for %i ms', (tries, ms) => {
  expect(pauseAfter(tries)).toBe(ms);
});

it('work ended by one crash restarts one at a time', () => {
  expect([0, 1, 63].map((place) => pauseAfterCrash(place))).toEqual([5_000, 5_200, 17_600]);
});
