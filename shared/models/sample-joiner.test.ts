import { expect, it } from 'vitest';
import { SampleJoiner } from './sample-joiner.ts';

it('joins samples that are cut anywhere, however long the pieces are', () => {
  const whole = Int16Array.from({ length: 400_000 }, (_, i) => i % 30_000);
  const octets = new Uint8Array(whole.buffer);
  const joiner = new SampleJoiner();
  const pieces = [octets.subarray(0, 3), octets.subarray(3, 4), octets.subarray(4, 9), octets.subarray(9)];
  const joined = pieces.flatMap((piece) => [joiner.samples(piece)]);
  expect(joined.map(({ length }) => length)).toEqual([1, 1, 2, 399_996]);
  expect(joined.flatMap((piece) => Array.from(piece))).toEqual(Array.from(whole));
});
