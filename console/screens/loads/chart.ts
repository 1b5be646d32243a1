/** The chart of a load: latency of answers over calls at once. Pure. */
import type { Answer } from '../../api/client.ts';

type Level = Answer<'GET /v1/agent-testing/loads/{id}'>['levels'][number];

interface ChartedLevel extends Pick<Level, 'concurrency'> {
  readonly figures: Pick<NonNullable<Level['figures']>, 'latency_ms'> | null;
}

export interface ChartPoint {
  readonly series: 'p50' | 'p95';
  readonly concurrency: number;
  readonly x: number;
  readonly y: number;
  /** Of the interval, as far as it is known. */
  readonly low: number;
  readonly high: number;
  readonly ms: number;
}

export interface Chart {
  readonly points: readonly ChartPoint[];
  readonly ticks: readonly { readonly x: number; readonly text: string }[];
  readonly most: number;
}

export const chartSize = { width: 600, height: 220, left: 60, bottom: 30, top: 10 } as const;

export function chartOf(levels: readonly ChartedLevel[]): Chart {
  const { bottom, height, left, top, width } = chartSize;
  const measured = levels.flatMap(({ concurrency, figures }) =>
    figures && figures.latency_ms.answers > 0 ? [{ concurrency, latency: figures.latency_ms }] : [],
  );
  const all = measured.flatMap(({ latency }) => [
    latency.p95 ?? 0,
    latency.p50 ?? 0,
    latency.p50_interval?.high ?? 0,
    latency.p95_interval?.high ?? 0,
  ]);
  const most = Math.max(1, ...all);
  const step = (width - left) / Math.max(1, measured.length);
  const yOf = (ms: number) => top + (height - bottom - top) * (1 - ms / most);
  const points = measured.flatMap(({ concurrency, latency }, place) =>
    (['p50', 'p95'] as const).flatMap((series): ChartPoint[] => {
      const ms = latency[series];
      if (ms === null) return [];
      const bounds = latency[`${series}_interval`];
      const x = left + step * (place + (series === 'p50' ? 0.4 : 0.6));
      return [
        {
          series,
          concurrency,
          x,
          y: yOf(ms),
          low: yOf(bounds?.low ?? ms),
          high: yOf(bounds?.high ?? ms),
          ms,
        },
      ];
    }),
  );
  const ticks = measured.map(({ concurrency }, place) => ({
    x: left + step * (place + 0.5),
    text: String(concurrency),
  }));
  return { points, ticks, most };
}
