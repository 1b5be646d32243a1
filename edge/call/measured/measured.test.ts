import { describe, expect, it } from 'vitest';
import {
  mostSampledMs,
  mostTurns,
  type QualityPart,
  type QualitySample,
} from '#shared/edge-protocol/measured.ts';
import { measuredLimits } from './limits.ts';
import { mergedSample } from './merged-sample.ts';
import { QualitySeries } from './quality-series.ts';
import { TurnNumbers } from './turn-numbers.ts';

/** A sample that ends at the `n`th interval of 5 s. */
function sample(n: number, more: Partial<Record<number, number | null>> = {}): QualitySample {
  const usual: QualitySample = [n * 5000, 5000, 0, 250, 1, 2, 3, 40, -20, 250, 0, -25, 30, 4.4, 4.3, 0.5];
  const [at, length, flags, received, lost, ...rest] = usual.map((value, index) => {
    const given = more[index];
    return given === undefined ? value : given;
  });
  const [late, jitter, buffer, levelIn, sent, loss, levelOut, trip, mosIn, mosOut, clock] = rest;
  const none = null;
  return [
    at ?? 0,
    length ?? 0,
    flags ?? 0,
    received ?? 0,
    lost ?? 0,
    late ?? none,
    jitter ?? none,
    buffer ?? none,
    levelIn ?? none,
    sent ?? 0,
    loss ?? none,
    levelOut ?? none,
    trip ?? none,
    mosIn ?? none,
    mosOut ?? none,
    clock ?? none,
  ];
}

/** What a database that follows the parts has. */
function stored(parts: readonly (QualityPart | null)[]): Map<number, QualitySample[]> {
  const rows = new Map<number, QualitySample[]>();
  for (const one of parts)
    if (one) rows.set(one.part, [...(one.whole ? [] : (rows.get(one.part) ?? [])), ...one.samples]);
  return rows;
}

/** The series of a call of this many samples. */
function series(samples: number): Map<number, QualitySample[]> {
  const kept = new QualitySeries(measuredLimits);
  return stored(Array.from({ length: samples }, (_, index) => kept.add(sample(index + 1))));
}

describe('the series of a call', () => {
  it('has every sample of the first hour, a minute to a part', () => {
    const rows = series(720);
    expect(rows.size).toBe(60);
    expect([...rows.values()].flat()).toHaveLength(720);
    expect([...rows.values()].every(({ length }) => length === 12)).toBe(true);
  });

  it('has after it the minutes, and every sample of the current one', () => {
    const rows = series(720 + 3 * 12 + 5);
    expect(rows.size).toBe(61);
    const last = rows.get(60) ?? [];
    expect(last.map(([at, length]) => [at, length])).toEqual([
      [732 * 5000, 60_000],
      [744 * 5000, 60_000],
      [756 * 5000, 60_000],
      ...[757, 758, 759, 760, 761].map((n) => [n * 5000, 5000]),
    ]);
    expect(last[0]?.slice(3, 6)).toEqual([3000, 12, 24]);
  });

  it('of 12 hours has 1,380 samples in 115 rows of at most 24', () => {
    const rows = series(12 * 720);
    expect([...rows.values()].flat()).toHaveLength(720 + 660);
    expect(rows.size).toBe(115);
    expect(Math.max(...[...rows.values()].map(({ length }) => length))).toBeLessThanOrEqual(24);
    const all = [...rows.values()].flat();
    expect(all.reduce((sum, [, length]) => sum + length, 0)).toBe(12 * 3_600_000);
    expect(all.reduce((sum, one) => sum + one[3], 0)).toBe(12 * 720 * 250);
  });

  it('ends after 25 hours', () => {
    const kept = new QualitySeries(measuredLimits);
    expect(kept.add(sample(mostSampledMs / 5000))).not.toBeNull();
    expect(kept.add(sample(mostSampledMs / 5000 + 1))).toBeNull();
  });
});

describe('a merged sample', () => {
  it('has the sums of packets, the worst of the rest, and the mean power', () => {
    const merged = mergedSample([
      sample(1, { 5: null, 6: 9, 13: 4.4, 8: -20, 10: null, 15: 3 }),
      sample(2, { 5: 3, 6: 2, 13: 3.1, 8: -127, 10: 4, 15: 80 }),
    ]);
    expect(merged).toEqual([10_000, 10_000, 0, 500, 2, 3, 9, 40, -23, 500, 4, -25, 30, 3.1, 4.3, 80]);
  });

  it('keeps what nothing measured unknown, and flags only what was so throughout', () => {
    const unknown = { 5: null, 6: null, 7: null, 8: null, 13: null };
    const merged = mergedSample([sample(1, { ...unknown, 2: 3 }), sample(2, { ...unknown, 2: 1 })]);
    expect(merged[2]).toBe(1);
    expect([merged[5], merged[6], merged[7], merged[8], merged[13]]).toEqual([null, null, null, null, null]);
  });
});

describe('numbers of turns', () => {
  it('go on when another agent counts from 0, and when one comes in the midst of its conversation', () => {
    const numbers = new TurnNumbers(measuredLimits);
    const [first, second, third] = [{}, {}, {}];
    expect([0, 1, 2].map((turn) => numbers.take(first, turn))).toEqual([0, 1, 2]);
    expect([0, 1, 1].map((turn) => numbers.take(second, turn))).toEqual([3, 4, 4]);
    expect([17, 18].map((turn) => numbers.take(third, turn))).toEqual([5, 6]);
    // The last word of the one before may come late.
    expect([numbers.take(second, 1), numbers.take(third, 19)]).toEqual([4, 7]);
  });

  it('end at a number of marks for a turn, and at a number of turns', () => {
    const numbers = new TurnNumbers(measuredLimits);
    const agent = {};
    const marks = Array.from({ length: 40 }, () => numbers.take(agent, 0));
    expect(marks.filter((number) => number !== null)).toHaveLength(measuredLimits.mostMarks);
    expect(numbers.take(agent, mostTurns - 1)).toBe(mostTurns - 1);
    expect(numbers.take(agent, mostTurns)).toBeNull();
  });
});
