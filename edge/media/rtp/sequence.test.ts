import { expect, it } from 'vitest';
import { sequenceAhead, sequencePlus, timestampAhead, timestampPlus } from './sequence.ts';

it('computes distances of sequence numbers across the rollover', () => {
  expect(sequenceAhead(5, 3)).toBe(2);
  expect(sequenceAhead(3, 5)).toBe(-2);
  expect(sequenceAhead(1, 65535)).toBe(2);
  expect(sequenceAhead(65535, 1)).toBe(-2);
  expect(sequenceAhead(32767, 0)).toBe(32767);
  expect(sequenceAhead(32768, 0)).toBe(-32768);
  expect(sequencePlus(65535, 2)).toBe(1);
});

it('computes distances of timestamps across the rollover', () => {
  expect(timestampAhead(160, 0)).toBe(160);
  expect(timestampAhead(100, 2 ** 32 - 60)).toBe(160);
  expect(timestampAhead(2 ** 32 - 60, 100)).toBe(-160);
  expect(timestampPlus(2 ** 32 - 60, 160)).toBe(100);
});
