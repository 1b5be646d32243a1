import { describe, expect, it } from 'vitest';
import { agreement, kappa } from './agreement.ts';
import { rounded, roundedInterval } from './statistics.ts';

const table = (passPass: number, passFail: number, failPass: number, failFail: number) => ({
  passPass,
  passFail,
  failPass,
  failFail,
});
const view = ({ value, interval }: ReturnType<typeof kappa>) => [rounded(value), roundedInterval(interval)];

describe("Cohen's kappa", () => {
  // By hand for 20, 5, 10, 15: chance .5 · .6 + .5 · .4 = .5, kappa (.7 − .5) / .5 = .4,
  // variance (.10972 + .10188 − .01) / (50 · .25) = .016128, so ± 1.96 · .126996.
  it('of a table computed by hand, with its interval', () => {
    expect(view(kappa(table(20, 5, 10, 15)))).toEqual([0.4, { low: 0.1511, high: 0.6489 }]);
  });

  // By hand for 45, 15, 25, 15: chance .6 · .7 + .4 · .3 = .54, kappa (.6 − .54) / .46 = .1304;
  // for 25, 35, 5, 35: chance .6 · .3 + .4 · .7 = .46, kappa (.6 − .46) / .54 = .2593.
  it('tells apart tables of the same agreement', () => {
    expect(view(kappa(table(45, 15, 25, 15)))[0]).toBe(0.1304);
    expect(view(kappa(table(25, 35, 5, 35)))[0]).toBe(0.2593);
    expect(agreement(table(45, 15, 25, 15)).value).toBe(0.6);
  });

  it('is 0 at chance, 1 for equal and −1 for opposite verdicts, without an interval for the last two', () => {
    expect(rounded(kappa(table(25, 25, 25, 25)).value)).toBe(0);
    expect(view(kappa(table(30, 0, 0, 20)))).toEqual([1, null]);
    expect(view(kappa(table(0, 25, 25, 0)))).toEqual([-1, null]);
  });

  it('does not exist when both gave one verdict only, or none at all', () => {
    expect(kappa(table(40, 0, 0, 0))).toEqual({ value: null, interval: null });
    expect(kappa(table(0, 0, 0, 0))).toEqual({ value: null, interval: null });
  });

  it('is the same when pass and fail, or person and judge, change places', () => {
    const one = view(kappa(table(20, 5, 10, 15)));
    expect(view(kappa(table(15, 10, 5, 20)))).toEqual(one);
    expect(view(kappa(table(20, 10, 5, 15)))).toEqual(one);
  });
});

// 35 of 50 by Wilson: (.7 + .038416 ± 1.96 √(.0042 + .00038416)) / 1.076832
it('agreement is the share of equal verdicts', () => {
  expect(view(agreement(table(20, 5, 10, 15)))).toEqual([0.7, { low: 0.5625, high: 0.809 }]);
  expect(agreement(table(0, 0, 0, 0))).toEqual({ value: null, interval: null });
});
