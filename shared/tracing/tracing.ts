/**
 * Spans for OpenTelemetry, as the programs see them. Without a collector there is no Tracing, and none of its packages
 * is loaded (start.ts).
 *
 * All threads and both programs know the span of a call without telling each other: it has the call's own id.
 */
import { createHash } from 'node:crypto';

/** No phone numbers, addresses or words: a collector keeps them for others than the ones who may see them. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** By the names that log lines have; hexadecimal digits in lower case, 32 and 16. */
export interface SpanIds {
  readonly trace_id: string;
  readonly span_id: string;
}

export interface SpanOptions {
  readonly kind: 'server' | 'client';
  readonly attributes: Attributes;
  /** null: a trace of its own. */
  readonly parent: SpanIds | null;
  readonly links?: readonly SpanIds[];
}

export interface OpenSpan {
  readonly ids: SpanIds;
  /** @param error in a few words; null: it went well */
  end(attributes: Attributes, error: string | null): void;
}

/** A call that is over. Times in ms since 1970. */
export interface TracedCall {
  readonly callId: string;
  readonly orgId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly answered: boolean;
  /** The code of shared/termination.ts. */
  readonly termination: string;
}

/** What became of spans, since the start. */
export interface SpanCounts {
  readonly sent: number;
  /** More were waiting than are kept. */
  readonly dropped: number;
  /** The collector did not take them. */
  readonly failed: number;
}

export interface Tracing {
  begin(name: string, options: SpanOptions): OpenSpan;
  call(call: TracedCall): void;
  /** Runs `work`, in which `active` are these ids. */
  run<T>(ids: SpanIds, work: () => T): T;
  readonly active: SpanIds | null;
  readonly counts: SpanCounts;
  /** Sends what waits, for a few seconds at most. */
  close(): Promise<void>;
}

/** The span of work for a call, below that of the call. */
export function beginOfCall(
  tracing: Tracing,
  name: string,
  { callId, orgId }: Pick<TracedCall, 'callId' | 'orgId'>,
  more: Attributes = {},
): OpenSpan {
  return tracing.begin(name, {
    kind: 'client',
    parent: idsOfCall(callId),
    attributes: { 'trunkline.call_id': callId, 'trunkline.org_id': orgId, ...more },
  });
}

/** What names a span to another program (W3C Trace Context). */
export function traceparentOf({ trace_id, span_id }: SpanIds): string {
  return `00-${trace_id}-${span_id}-01`;
}

/** Of the span of a call: its id without dashes, and the second half of that. */
export function idsOfCall(callId: string): SpanIds {
  const digits = callId.replaceAll('-', '').toLowerCase();
  const trace_id = /^[0-9a-f]{32}$/.test(digits)
    ? digits
    : createHash('sha256').update(callId).digest('hex').slice(0, 32);
  return { trace_id, span_id: trace_id.slice(16) };
}

/** The span that a W3C `traceparent` names; null: none, or one that cannot be read. */
export function readTraceparent(header: string | undefined): SpanIds | null {
  const [, trace_id, span_id] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? '') ?? [];
  if (trace_id === undefined || span_id === undefined || /^0+$/.test(trace_id) || /^0+$/.test(span_id))
    return null;
  return { trace_id, span_id };
}
