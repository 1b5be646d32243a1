/** Metrics of traces. */
import { Counter, type Registry } from 'prom-client';
import type { Tracing } from '#shared/tracing/tracing.ts';

/** @param tracing null: no traces, all counts stay 0 */
export function measureSpans(registry: Registry, tracing: Pick<Tracing, 'counts'> | null): void {
  new Counter({
    name: 'trunkline_control_spans_total',
    help: 'Spans of traces: sent to the collector, dropped because too many waited, and failed because it did not take them.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      const { sent, dropped, failed } = tracing?.counts ?? { sent: 0, dropped: 0, failed: 0 };
      this.inc({ outcome: 'sent' }, sent);
      this.inc({ outcome: 'dropped' }, dropped);
      this.inc({ outcome: 'failed' }, failed);
    },
  });
}
