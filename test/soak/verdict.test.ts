/** Verdicts for series whose growth is known. */
import { describe, expect, test } from 'vitest';
import { Random } from '../simulation/random.ts';
import type { Point } from './regression.ts';
import { judge, thresholds } from './verdict.ts';

const mib = 1024 * 1024;
const callsPerSample = 20;

/** @param valueAt of the number of calls */
function series(samples: number, valueAt: (calls: number) => number, segment = 0): Point[] {
  return Array.from({ length: samples }, (_, index) => {
    const calls = index * callsPerSample;
    return { calls, value: valueAt(calls), segment };
  });
}

describe('judge', () => {
  test('a constant is flat', () => {
    expect(
      judge(
        series(500, () => 200 * mib),
        'memory',
      ),
    ).toMatchObject({ verdict: 'flat', bound: null });
    expect(
      judge(
        series(20, () => 5),
        'rows',
      ).verdict,
    ).toBe('flat');
  });

  test('a heap that a collector empties is flat, however high it rises between', () => {
    const saw = series(600, (calls) => 60 * mib + ((calls * 7919) % 40) * mib);
    expect(judge(saw, 'heap').verdict).toBe('flat');
  });

  test('noise without a trend is flat', () => {
    const random = new Random(1);
    expect(
      judge(
        series(600, () => random.between(0, 400) * mib),
        'memory',
      ).verdict,
    ).toBe('flat');
    expect(
      judge(
        series(600, () => random.between(0, 90)),
        'activity',
      ).verdict,
    ).toBe('flat');
  });

  test('10 KiB per call leak, also under the sawtooth of a collector', () => {
    const leak = series(600, (calls) => 60 * mib + calls * 10 * 1024 + ((calls * 7919) % 40) * mib);
    const { verdict, slope } = judge(leak, 'heap');
    expect(verdict).toBe('leaking');
    expect(slope?.per1000).toBeGreaterThan(8 * mib);
    expect(slope?.per1000).toBeLessThan(12 * mib);
  });

  test('the same leak is found across restarts', () => {
    const grows = (calls: number) => 60 * mib + calls * 10 * 1024;
    const runs = [0, 1, 2].flatMap((segment) => series(200, grows, segment));
    expect(judge(runs, 'heap').verdict).toBe('leaking');
  });

  test('a descriptor lost with every hundredth call leaks', () => {
    expect(
      judge(
        series(600, (calls) => 40 + Math.floor(calls / 100)),
        'descriptors',
      ).verdict,
    ).toBe('leaking');
  });

  test('growth that settles within its limit is flat', () => {
    const { settling } = thresholds.memory;
    const span = 599 * callsPerSample;
    expect(
      judge(
        series(600, (calls) => (calls / span) * settling * 0.9),
        'memory',
      ).verdict,
    ).toBe('flat');
    expect(
      judge(
        series(600, (calls) => (calls / span) * settling * 1.2),
        'memory',
      ).verdict,
    ).toBe('leaking');
  });

  test('growth per call that does not matter is flat, however long the run', () => {
    const slow = (calls: number) => (calls / 1000) * thresholds.descriptors.per1000 * 0.9;
    expect(judge(series(3000, slow), 'descriptors').verdict).toBe('flat');
  });

  test('rows grow within the retention of their table, and leak where none is known', () => {
    const rows = series(100, (calls) => calls);
    const bound = 'retention: 90 days';
    expect(judge(rows, 'rows', bound)).toMatchObject({ verdict: 'growing', bound });
    expect(judge(rows, 'rows')).toMatchObject({ verdict: 'leaking', bound: null });
  });

  test('memory that is given back after minutes is flat, however long it is held', () => {
    // Climbs by 130 MiB, is held, and falls back once in each half.
    const held = series(600, (calls) => 200 * mib + Math.min(130, ((calls % 6000) / 6000) * 260) * mib);
    expect(judge(held, 'memory').verdict).toBe('flat');
  });

  describe('resident memory of programs that are restarted', () => {
    /** Runs of the edge in the soak of an hour with ten restarts, after their warm-up: samples of 6 s, 2.5 calls/s. */
    const runs = [140, 30, 100, 120];
    const perSample = 15;
    /**
     * @param leak octets for each call
     * @param settles MiB that a run comes to need, nine tenths of them in `within` samples
     */
    const resident = (leak: number, settles = 0, within = 1, lengths: readonly number[] = runs): Point[] => {
      const random = new Random(7);
      return lengths.flatMap((length, segment) =>
        Array.from({ length }, (_, index) => {
          const calls = index * perSample;
          const settled = settles * (1 - Math.exp((-2.3 * index) / within));
          const garbage = random.between(0, 30);
          return { calls, segment, value: (200 + settled + garbage) * mib + leak * calls };
        }),
      );
    };

    test('a plateau is no leak, however high it is', () => {
      expect(judge(resident(0, 110, 60), 'memory').verdict).toBe('flat');
      expect(judge(resident(0, 200, 50), 'memory').verdict).toBe('flat');
      expect(judge(resident(0, 400, 150, [600]), 'memory').verdict).toBe('flat');
    });

    test('a leak of what a call takes is found, also above a plateau', () => {
      const call = 0.15 * mib;
      expect(judge(resident(call), 'memory').verdict).toBe('leaking');
      expect(judge(resident(call, 110, 60), 'memory').verdict).toBe('leaking');
      // A third of it.
      expect(judge(resident(call / 3), 'memory').verdict).toBe('leaking');
    });

    test('runs of some hours find a leak of 6 KiB a call above a plateau', () => {
      const day = [1400, 2000, 900, 1600];
      expect(judge(resident(0, 200, 50, day), 'memory').verdict).toBe('flat');
      expect(judge(resident(6 * 1024, 200, 50, day), 'memory').verdict).toBe('leaking');
    });
  });

  test('shrinking is flat', () => {
    expect(
      judge(
        series(100, (calls) => 10_000 - calls),
        'rows',
      ).verdict,
    ).toBe('flat');
  });

  test('fewer than eight samples are too short', () => {
    expect(
      judge(
        series(7, (calls) => calls),
        'rows',
      ).verdict,
    ).toBe('too short');
    expect(
      judge(
        series(8, (calls) => calls),
        'rows',
      ).verdict,
    ).toBe('leaking');
    expect(
      judge(
        series(79, (calls) => calls * mib),
        'memory',
      ).verdict,
    ).toBe('too short');
    expect(judge([], 'rows')).toEqual({ verdict: 'too short', slope: null, bound: null });
  });
});
