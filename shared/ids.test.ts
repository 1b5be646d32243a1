import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newTimedId, timedIdsFrom } from './ids.ts';

/** Of RFC 9562 appendix A.6: 2022-02-22T19:22:22.000Z. */
const exampleTime = 0x017f22e279b0;

test('a timed id has the time, version and variant of RFC 9562', () => {
  expect(newTimedId(exampleTime)).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(timedIdsFrom(exampleTime)).toBe('017f22e2-79b0');
});

test('timed ids are different, and sort by their time', () => {
  const ids = Array.from({ length: 100 }, () => newTimedId(exampleTime));
  expect(new Set(ids).size).toBe(100);
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, (one, other) => {
      expect(newTimedId(one) >= timedIdsFrom(other)).toBe(one >= other);
    }),
  );
});
