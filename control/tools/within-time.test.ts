import { expect, it } from 'vitest';
import { OutOfTime, withinTime } from './within-time.ts';

it("returns the work's result, also none", () => {
  expect(withinTime(100, () => 5)).toBe(5);
  expect(withinTime(100, () => undefined)).toBeUndefined();
});

it('passes errors of the work on', () => {
  expect(() =>
    withinTime(100, () => {
      throw new RangeError('mine');
    }),
  ).toThrow(new RangeError('mine'));
});

it('stops an expression with endless backtracking', () => {
  expect(() => withinTime(50, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`))).toThrow(OutOfTime);
});

it('does not count time when the thread was not computing', () => {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let tries = 0;
  const value = withinTime(20, () => {
    tries++;
    // Ended by the time limit, which a busy machine may notice late.
    if (tries < 3) Atomics.wait(sleeper, 0, 0, 30_000);
    return tries;
  });
  expect(value).toBeGreaterThanOrEqual(3);
});
