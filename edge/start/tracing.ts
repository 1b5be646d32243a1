/** Traces of this thread, with their counts among the metrics. */

import type { TracingSettings } from '#shared/tracing/settings.ts';
import { startTracing } from '#shared/tracing/start.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import type { EdgeLog } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** @param software name and version @returns null: there is no collector */
export async function tracingOf(
  settings: TracingSettings | null,
  software: string,
  { log, metrics }: { readonly log: EdgeLog; readonly metrics: Metrics },
): Promise<Tracing | null> {
  const tracing = await startTracing(settings, {
    service: 'trunkline-edge',
    version: software.replace(/^.*\//, ''),
    failing: (error) => log.warn({ err: error }, 'the collector of traces does not take spans'),
  });
  if (tracing) {
    for (const outcome of ['sent', 'dropped', 'failed'] as const)
      metrics.gauge(`trunkline_edge_spans_total{outcome="${outcome}"}`, () => tracing.counts[outcome]);
  }
  return tracing;
}
