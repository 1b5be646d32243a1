/** Slopes against tables computed by hand. */
import { describe, expect, test } from 'vitest';
import { floorRise, halves, median, type Point, slopeOf, troughs } from './regression.ts';

const points = (segment: number, ...pairs: readonly (readonly [calls: number, value: number])[]): Point[] =>
  pairs.map(([calls, value]) => ({ calls, value, segment }));

describe('median', () => {
  test('is the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 10, 2])).toBe(3);
  });

  test('of nothing is an error', () => {
    expect(() => median([])).toThrow('no values');
  });
});

describe('slopeOf', () => {
  test('is the median of the slopes of all pairs', () => {
    // Pairs: (2-1)/1, (4-1)/2, (4-2)/1 = 1, 1.5, 2.
    expect(slopeOf(points(0, [0, 1], [1, 2], [2, 4]))).toMatchObject({ per1000: 1500, span: 2, points: 3 });
  });

  test('is not bent by an outlier', () => {
    // Of the 10 pairs, 6 without the outlier have the slope 2; the 4 with it: 198, 98, -194, -95.
    const series = points(0, [0, 0], [1, 2], [2, 200], [3, 6], [4, 8]);
    expect(slopeOf(series)?.per1000).toBe(2000);
  });

  test('compares no samples of different runs of a process', () => {
    // Each run grows by 1 per call; the restart drops the level by 100.
    const series = [...points(0, [0, 100], [10, 110]), ...points(1, [20, 10], [30, 20])];
    expect(slopeOf(series)).toMatchObject({ per1000: 1000, span: 10 });
  });

  test('does not exist where no calls lie between samples', () => {
    expect(slopeOf([])).toBeNull();
    expect(slopeOf(points(0, [5, 1], [5, 9]))).toBeNull();
    expect(slopeOf([...points(0, [0, 1]), ...points(1, [9, 2])])).toBeNull();
  });

  test('steadiness is the statistic of Mann and Kendall', () => {
    // Four growing samples: 6 pairs, sum 6, variance 4 * 3 * 13 / 18 = 8.667; (6 - 1) / 2.944 = 1.698.
    expect(slopeOf(points(0, [0, 1], [1, 2], [2, 3], [3, 4]))?.steadiness).toBeCloseTo(1.698, 3);
    expect(slopeOf(points(0, [0, 4], [1, 3], [2, 2], [3, 1]))?.steadiness).toBeCloseTo(-1.698, 3);
    // Signs +, -, +, -, +, - cancel to 0.
    expect(slopeOf(points(0, [0, 2], [1, 3], [2, 1], [3, 2.5]))?.steadiness).toBe(0);
  });
});

describe('the least slope', () => {
  test('is that of the rank of Sen', () => {
    // 10 samples: 45 pairs, variance 10 * 9 * 25 / 18 = 125; (45 - 1.645 * 11.18) / 2 = 13.3: 13 slopes are below it.
    const values = [0, 9, 4, 1, 16, 25, 2, 36, 49, 7];
    const series = points(0, ...values.map((value, calls): [number, number] => [calls, value]));
    const slopes = values.flatMap((later, at) =>
      values.slice(0, at).map((earlier, index) => (later - earlier) / (at - index)),
    );
    expect(slopes).toHaveLength(45);
    expect(slopeOf(series)?.atLeast).toBe(1000 * (slopes.toSorted((one, other) => one - other)[13] ?? 0));
  });

  test('of a straight line is its slope', () => {
    expect(slopeOf(points(0, [0, 1], [1, 3], [2, 5]))).toMatchObject({ per1000: 2000, atLeast: 2000 });
  });
});

describe('halves', () => {
  test('are of each run, the middle one of an odd number in the second', () => {
    const series = [...points(0, [1, 5], [2, 3], [3, 9]), ...points(1, [6, 2], [7, 1])];
    const [first, second] = halves(series);
    expect(first.map(({ calls }) => calls)).toEqual([1, 6]);
    expect(second.map(({ calls }) => calls)).toEqual([2, 3, 7]);
  });
});

describe('troughs', () => {
  test('are the lowest samples of whole groups within a run', () => {
    const series = [
      ...points(0, [1, 5], [2, 3], [3, 9], [4, 7], [5, 8]),
      ...points(1, [6, 2], [7, 1], [8, 4]),
    ];
    expect(troughs(series, 2)).toEqual([
      { calls: 2, value: 3, segment: 0 },
      { calls: 4, value: 7, segment: 0 },
      { calls: 7, value: 1, segment: 1 },
    ]);
  });
});

describe('floorRise', () => {
  test('is the rise of the lowest value from the first to the second half of a run', () => {
    expect(floorRise(points(0, [0, 5], [1, 3], [2, 9], [3, 4], [4, 8], [5, 7]))).toBe(1);
    expect(floorRise(points(0, [0, 5], [1, 9], [2, 9], [3, 4]))).toBe(-1);
  });

  test('is the median over the runs, and 0 without any', () => {
    const rising = (segment: number, by: number) => points(segment, [0, 1], [1, 1 + by]);
    expect(floorRise([...rising(0, 2), ...rising(1, -8), ...rising(2, 5)])).toBe(2);
    expect(floorRise([])).toBe(0);
    expect(floorRise(points(0, [0, 5]))).toBe(0);
  });
});
