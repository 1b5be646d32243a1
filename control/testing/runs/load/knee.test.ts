import { describe, expect, it } from 'vitest';
import type { LoadFigures } from '#shared/api/agent-testing/loads.ts';
import { figuresOf, latencyOf } from '../../records/load-rules.ts';
import { kneeOf } from './knee.ts';

/** Ten calls, answered in so many ms and 10 ms more each. */
function level(concurrency: number, from: number, more: Partial<LoadFigures> = {}) {
  const calls = Array.from({ length: 10 }, (_, place) => [from + 10 * place]);
  const figures: LoadFigures = {
    ...figuresOf([]),
    calls: 10,
    answered: 10,
    latency_ms: latencyOf(calls),
    passed: 10,
    distinct_conversations: 10,
    ...more,
  };
  return { concurrency, figures };
}

describe('the knee of a load', () => {
  // By hand, n = 10: 0.5 ± 1.96 · 0.5 / √10 = 0.1901 to 0.8099, the 2nd and the 9th answer; 0.95 + 0.1351 is beyond 1.
  it('is the last level before answers take a quarter longer with intervals that do not overlap', () => {
    expect(kneeOf([level(1, 100), level(2, 110), level(4, 200), level(8, 900)])).toEqual({
      concurrency: 2,
      breaks_at: 4,
      because: 'latency',
      sentence:
        'The knee is at 2 calls at once: with 4, the median latency of answers is 240 ms (at least 210), and 140 ms (at most 180) with 1.',
    });
  });

  it('is not named while intervals overlap, or the difference is small', () => {
    // Median 190 ms, at least 160.
    expect(kneeOf([level(1, 100), level(2, 150)])).toEqual({
      concurrency: null,
      breaks_at: null,
      because: null,
      sentence: 'No level up to 2 calls at once is certainly worse than the first one.',
    });
    // Medians 1,040 and 1,140 ms: apart, and 10 % longer.
    expect(kneeOf([level(1, 1000), level(2, 1100)])?.because).toBeNull();
  });

  it('is the last level before calls are answered certainly less often', () => {
    // By hand: −0.8 with Newcombe from −0.9408 to −0.3841.
    expect(kneeOf([level(1, 100), level(3, 900, { answered: 2 })])).toMatchObject({
      concurrency: 1,
      breaks_at: 3,
      because: 'answered',
      sentence: 'The knee is at 1 call: with 3, 2 of 10 calls were answered, and 10 of 10 with 1.',
    });
    expect(kneeOf([level(1, 100), level(3, 100, { answered: 9 })])?.because).toBeNull();
  });

  it('is the last level before conversations certainly pass less often, over distinct ones', () => {
    const worse = { passed: 2, failed: 8 };
    expect(kneeOf([level(1, 100), level(3, 100, worse)])).toMatchObject({ because: 'passed' });
    const alike = { ...worse, distinct_conversations: 1 };
    expect(kneeOf([level(1, 100), level(3, 100, alike)])?.because).toBeNull();
  });

  it('is none where no call was answered, with one level, and before the first one has ended', () => {
    expect(kneeOf([level(5, 100, { answered: 0 })])).toMatchObject({
      concurrency: null,
      breaks_at: 5,
      sentence: 'No call was answered at the first level, 5 calls at once.',
    });
    expect(kneeOf([level(5, 100)])?.sentence).toBe(
      'One level, 5 calls at once: there is none to compare it with.',
    );
    expect(kneeOf([{ concurrency: 1, figures: null }])).toBeNull();
  });
});
