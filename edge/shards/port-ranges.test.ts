import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portRanges } from './port-ranges.ts';

describe('the RTP ports of shards', () => {
  it.each([
    ['one shard', 10_000, 20_000, 1, [[10_000, 19_871]], [19_872, 19_999]],
    [
      'two shards',
      10_000,
      20_000,
      2,
      [
        [10_000, 14_935],
        [14_936, 19_871],
      ],
      [19_872, 19_999],
    ],
    ['a small range', 30_000, 30_063, 1, [[30_000, 30_043]], [30_044, 30_063]],
    ['an odd start', 30_001, 30_008, 1, [[30_002, 30_005]], [30_006, 30_007]],
    [
      'fewer pairs than shards',
      30_000,
      30_005,
      8,
      [
        [30_000, 30_001],
        [30_002, 30_003],
      ],
      [30_004, 30_005],
    ],
    ['two pairs', 30_000, 30_003, 1, [[30_000, 30_001]], [30_002, 30_003]],
    ['one pair', 30_000, 30_001, 1, [[30_000, 30_001]], [30_000, 30_001]],
  ])('of %s', (_, portMin, portMax, shards, expected, tests) => {
    const ranges = portRanges({ portMin, portMax }, shards);
    const ends = (range: { portMin: number; portMax: number }) => [range.portMin, range.portMax];
    expect({ shards: ranges.shards.map(ends), tests: ends(ranges.tests) }).toEqual({
      shards: expected,
      tests,
    });
  });

  it('are pairs within the range, each with one owner', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1024, max: 60_000 }),
        fc.integer({ min: 4, max: 5000 }),
        fc.integer({ min: 1, max: 64 }),
        (portMin, size, shards) => {
          const portMax = portMin + size;
          const ranges = portRanges({ portMin, portMax }, shards);
          const all = [...ranges.shards, ranges.tests];
          expect(ranges.shards.length).toBeLessThanOrEqual(shards);
          all.forEach((range, i) => {
            expect(range.portMin % 2).toBe(0);
            expect(range.portMax).toBeGreaterThan(range.portMin);
            expect(range.portMin).toBeGreaterThanOrEqual(i === 0 ? portMin : (all[i - 1]?.portMax ?? 0) + 1);
          });
          expect(ranges.tests.portMax).toBeLessThanOrEqual(portMax);
        },
      ),
    );
  });
});
