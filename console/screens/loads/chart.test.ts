import { describe, expect, it } from 'vitest';
import { chartOf, chartSize } from './chart.ts';

const level = (concurrency: number, p50: number, p95: number) => ({
  concurrency,
  figures: {
    latency_ms: {
      answers: 4,
      p50,
      p50_interval: { low: p50 - 10, high: p50 + 10 },
      p95,
      p95_interval: { low: p95 - 10, high: null },
    },
  },
});

describe('the chart of a load', () => {
  it('has a point for each percentile of a level, with its interval as far as it is known', () => {
    const { most, points, ticks } = chartOf([level(2, 100, 200), level(4, 150, 400)]);
    expect(most).toBe(400);
    expect(ticks.map(({ text }) => text)).toEqual(['2', '4']);
    expect(points.map(({ concurrency, ms, series }) => [series, concurrency, ms])).toEqual([
      ['p50', 2, 100],
      ['p95', 2, 200],
      ['p50', 4, 150],
      ['p95', 4, 400],
    ]);
    const last = points[3];
    expect(last?.y).toBe(chartSize.top);
    expect(last?.high).toBe(last?.y);
    expect(last?.low).toBeGreaterThan(last?.y ?? 0);
  });

  it('is empty before a call was answered', () => {
    expect(chartOf([{ concurrency: 1, figures: null }])).toMatchObject({ points: [], ticks: [] });
  });
});
