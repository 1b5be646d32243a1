import { expect, it } from 'vitest';
import { OutOfTime, withinTime } from './within-time.ts';

it('gives what the work gives, also nothing', () => {
  expect(withinTime(100, () => 5)).toBe(5);
  expect(withinTime(100, () => undefined)).toBeUndefined();
});

it('lets errors of the work pass', () => {
  expect(() =>
    withinTime(100, () => {
      throw new RangeError('mine');
    }),
  ).toThrow(new RangeError('mine'));
});

it('stops an expression that backtracks without end', () => {
  expect(() => withinTime(50, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`))).toThrow(OutOfTime);
});

it('does not count the time that the thread did not compute', () => {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let tries = 0;
  const value = withinTime(20, () => {
    tries++;
    if (tries < 3) Atomics.wait(sleeper, 0, 0, 40);
    return tries;
  });
  expect(value).toBe(3);
});
