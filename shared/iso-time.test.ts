import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from '#shared/iso-time.ts';

it('writes every time since 1970 as Date does, also after one of another minute', () => {
  const time = fc.oneof(
    fc.double({ min: 0, max: 8.64e15, noNaN: true }),
    fc.integer({ min: 1_893_456_000_000, max: 1_893_456_180_000 }),
  );
  fc.assert(
    fc.property(time, (ms) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
    }),
    { numRuns: 2000 },
  );
});

it('throws for what is no time, as Date does', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
});
