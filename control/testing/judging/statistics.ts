/** Statistics over runs, exactly by the formulas of contract 6.7 and 6.10. Nothing here is rounded. */

import { counted } from '#shared/counted.ts';

/** Two-sided 95 %. */
const z = 1.96;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Wilson score interval of a proportion (Wilson 1927); null without runs. */
export function wilson(passed: number, n: number): Interval | null {
  if (n === 0) return null;
  const p = passed / n;
  const centre = p + z ** 2 / (2 * n);
  const reach = z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2));
  const scale = 1 + z ** 2 / n;
  // At p = 0 and 1 one bound is exactly 0 or 1, which the roots miss by a rounding error.
  return {
    low: passed === 0 ? 0 : (centre - reach) / scale,
    high: passed === n ? 1 : (centre + reach) / scale,
  };
}

/**
 * The share that passed, over distinct conversations: however often one was had, it is one sample.
 * @param n runs @param distinct how many different conversations they had
 */
export function overDistinct(passed: number, n: number, distinct: number): Proportion {
  return { passed: n === 0 ? 0 : (passed / n) * distinct, n: distinct };
}

/** Its interval; null for fewer than two conversations. */
export function wilsonOfDistinct(passed: number, n: number, distinct: number): Interval | null {
  if (n === 0 || distinct < 2) return null;
  const share = overDistinct(passed, n, distinct);
  return wilson(share.passed, share.n);
}

/** Why there is no such interval; null: there is one. */
export function noteOnDistinct(distinct: number, n: number): string | null {
  if (distinct > 1) return null;
  if (n === 0) return 'No run has passed or failed.';
  if (distinct === 0) return `None of ${counted(n, 'run')} is stored any more.`;
  return n === 1
    ? 'One conversation says nothing about others.'
    : `All ${counted(n, 'run')} had one and the same conversation, which says nothing about others: this caller and this agent do not vary with the seed.`;
}

/** Passed runs out of those that passed or failed. */
export interface Proportion {
  readonly passed: number;
  readonly n: number;
}

/**
 * Interval of the difference of two proportions, first minus second, from their Wilson bounds (Newcombe 1998, method
 * 10); null when one of them has no run.
 */
export function newcombe(first: Proportion, second: Proportion): Interval | null {
  const a = wilson(first.passed, first.n);
  const b = wilson(second.passed, second.n);
  if (!a || !b) return null;
  const p1 = first.passed / first.n;
  const p2 = second.passed / second.n;
  const d = p1 - p2;
  return {
    low: d - Math.hypot(p1 - a.low, b.high - p2),
    high: d + Math.hypot(a.high - p1, p2 - b.low),
  };
}

/** Entropy of pass and fail in bits: 0 when all runs agree, 1 when they are split evenly; null without runs. */
export function flakiness(passed: number, n: number): number | null {
  if (n === 0) return null;
  const p = passed / n;
  const part = (share: number) => (share === 0 ? 0 : -share * Math.log2(share));
  return part(p) + part(1 - p);
}

export function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  if (upper === undefined) return null;
  if (sorted.length % 2 === 1) return upper;
  return ((sorted[(sorted.length >> 1) - 1] ?? upper) + upper) / 2;
}

/** Sample standard deviation (n − 1); 0 of a single value, null of none. */
export function sampleStddev(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null) return null;
  if (values.length === 1) return 0;
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

export function confidence(n: number): 'low' | 'medium' | 'high' {
  if (n < 5) return 'low';
  return n < 20 ? 'medium' : 'high';
}

/**
 * The probability that k runs drawn from n, of which c passed, all passed: C(c,k) / C(n,k) with k = 3, or n if fewer;
 * null without runs.
 */
export function reliability(c: number, n: number): number | null {
  if (n === 0) return null;
  const k = Math.min(3, n);
  let chance = 1;
  for (let drawn = 0; drawn < k; drawn++) chance *= Math.max(0, c - drawn) / (n - drawn);
  return chance;
}

/** The API returns ratios and scores with 4 decimals (contract 1.5). */
export function round4(value: number): number {
  return Math.round((value + Number.EPSILON) * 10_000) / 10_000;
}

export function rounded(value: number | null): number | null {
  return value === null ? null : round4(value);
}

export function roundedInterval(interval: Interval | null): Interval | null {
  return interval && { low: round4(interval.low), high: round4(interval.high) };
}
