import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  confidence,
  flakiness,
  mean,
  median,
  newcombe,
  reliability,
  round4,
  rounded,
  roundedInterval,
  sampleStddev,
  wilson,
} from './statistics.ts';

const proportion = fc
  .integer({ min: 1, max: 5000 })
  .chain((n) => fc.record({ n: fc.constant(n), passed: fc.integer({ min: 0, max: n }) }));

/** The exact value of C(c,k)/C(n,k), in whole numbers. */
function exactReliability(c: bigint, n: bigint): number {
  const k = n < 3n ? n : 3n;
  const choose = (of: bigint) => {
    let product = 1n;
    for (let i = 0n; i < k; i++) product *= of - i > 0n ? of - i : 0n;
    return product;
  };
  return Number((choose(c) * 10n ** 15n) / choose(n)) / 1e15;
}

describe('the Wilson interval', () => {
  // Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3; z there is 1.959964.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %i in %i matches the published one', (passed, n, low, high) => {
    expect(roundedInterval(wilson(passed, n))).toEqual({ low, high });
  });

  // Computed with 40 digits from the formula and z = 1.96.
  it.each([
    [3, 5, 0.2307, 0.8824],
    [5, 10, 0.2366, 0.7634],
    [10, 10, 0.7225, 1],
    [1, 1, 0.2065, 1],
    [0, 1, 0, 0.7935],
  ])('of %i in %i matches the manual computation', (passed, n, low, high) => {
    expect(roundedInterval(wilson(passed, n))).toEqual({ low, high });
  });

  it('does not exist without runs', () => {
    expect(wilson(0, 0)).toBeNull();
  });

  it('lies within 0 and 1, contains the proportion, and mirrors when passes and failures swap', () => {
    fc.assert(
      fc.property(proportion, ({ passed, n }) => {
        const one = wilson(passed, n);
        const other = wilson(n - passed, n);
        if (!one || !other) throw new Error('an interval is missing');
        expect(one.low).toBeGreaterThanOrEqual(0);
        expect(one.high).toBeLessThanOrEqual(1);
        expect(one.low).toBeLessThanOrEqual(passed / n);
        expect(one.high).toBeGreaterThanOrEqual(passed / n);
        expect(one.low).toBeCloseTo(1 - other.high, 10);
      }),
    );
  });
});

describe('the Newcombe interval', () => {
  // Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [10, 10, 0, 10, 0.6075, 1],
  ])('of %i/%i and %i/%i matches the published one', (a, m, b, n, low, high) => {
    const found = newcombe({ passed: a, n: m }, { passed: b, n });
    // z = 1.96 instead of 1.959964 moves the fourth decimal by at most one.
    expect(Math.abs((found?.low ?? 9) - low)).toBeLessThan(1.01e-4);
    expect(Math.abs((found?.high ?? 9) - high)).toBeLessThan(1.01e-4);
  });

  it('is missing when a side has no runs', () => {
    expect(newcombe({ passed: 0, n: 0 }, { passed: 1, n: 2 })).toBeNull();
    expect(newcombe({ passed: 1, n: 2 }, { passed: 0, n: 0 })).toBeNull();
  });

  it('contains the difference, stays within -1 and 1, and is negated when the sides swap', () => {
    fc.assert(
      fc.property(proportion, proportion, (first, second) => {
        const one = newcombe(first, second);
        const other = newcombe(second, first);
        if (!one || !other) throw new Error('an interval is missing');
        const d = first.passed / first.n - second.passed / second.n;
        expect(one.low).toBeLessThanOrEqual(d);
        expect(one.high).toBeGreaterThanOrEqual(d);
        expect(one.low).toBeGreaterThanOrEqual(-1 - 1e-9);
        expect(one.high).toBeLessThanOrEqual(1 + 1e-9);
        expect(one.low).toBeCloseTo(-other.high, 10);
      }),
    );
  });
});

describe('flakiness', () => {
  it.each([
    [3, 5, 0.971],
    [1, 2, 1],
    [1, 4, 0.8113],
    [0, 7, 0],
    [7, 7, 0],
  ])('of %i passes in %i is the entropy in bits', (passed, n, bits) => {
    expect(rounded(flakiness(passed, n))).toBe(bits);
  });

  it('does not exist without runs, and is the same when passes and failures swap', () => {
    expect(flakiness(0, 0)).toBeNull();
    fc.assert(
      fc.property(proportion, ({ passed, n }) => {
        expect(flakiness(passed, n)).toBeCloseTo(flakiness(n - passed, n) ?? Number.NaN, 12);
      }),
    );
  });
});

describe('scores', () => {
  const scores = [0.42, 0.55, 0.71, 0.85, 0.87];

  it('have the mean, median and sample deviation of a manual computation', () => {
    expect(mean(scores)).toBeCloseTo(0.68, 12);
    expect(median(scores)).toBe(0.71);
    expect(median([0.2, 0.8, 0.4, 0.6])).toBe(0.5);
    // squares: .0676 + .0169 + .0009 + .0289 + .0361 = .1504; / 4 = .0376
    expect(sampleStddev(scores)).toBeCloseTo(0.1939071943, 9);
  });

  it('have deviation 0 for a single one, and no values for none', () => {
    expect(sampleStddev([0.3])).toBe(0);
    expect([mean([]), median([]), sampleStddev([])]).toEqual([null, null, null]);
  });
});

describe('confidence', () => {
  it.each([
    [0, 'low'],
    [4, 'low'],
    [5, 'medium'],
    [19, 'medium'],
    [20, 'high'],
  ])('of %i runs is %s', (n, expected) => {
    expect(confidence(n)).toBe(expected);
  });
});

describe('reliability', () => {
  it.each([
    [5, 6, 0.5],
    [4, 4, 1],
    [2, 3, 0],
    [1, 2, 0],
    [2, 2, 1],
    [1, 1, 1],
    [0, 1, 0],
    [9, 10, 0.7],
  ])('of %i passes in %i is the share of draws with passes only', (c, n, value) => {
    expect(rounded(reliability(c, n))).toBe(value);
  });

  it('agrees with the binomial coefficients in whole numbers', () => {
    fc.assert(
      fc.property(proportion, ({ passed, n }) => {
        expect(reliability(passed, n)).toBeCloseTo(exactReliability(BigInt(passed), BigInt(n)), 12);
      }),
    );
  });

  it('does not exist without runs', () => {
    expect(reliability(0, 0)).toBeNull();
  });
});

describe('rounding', () => {
  it('keeps four decimals or fewer', () => {
    expect(round4(2 / 9)).toBe(0.2222);
    expect(round4(0.00005)).toBe(0.0001);
    expect(round4(0.7)).toBe(0.7);
    expect(rounded(null)).toBeNull();
  });
});
