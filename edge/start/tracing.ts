/** Traces of this thread, with their counts among the metrics. */

import type { TracingSettings } from '#shared/tracing/settings.ts';
import { startTracing } from '#shared/tracing/start.ts';
import { beginOfCall, type Tracing } from '#shared/tracing/tracing.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { TransferKind, TransferWatch } from '../call/transfer/transfer-plan.ts';
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

/** A span for the transfer of a call, until its outcome. */
export function tracedTransfer(
  tracing: Tracing,
  kind: TransferKind,
  { id, plan: { orgId } }: Pick<LiveCall, 'id' | 'plan'>,
): TransferWatch {
  const attributes = { 'trunkline.transfer_kind': kind };
  const span = beginOfCall(tracing, 'transfer', { callId: id, orgId }, attributes);
  return (outcome, legId) =>
    span.end(legId === null ? {} : { 'trunkline.target_call_id': legId }, outcome.ok ? null : outcome.code);
}
