/** Tracing with the packages of OpenTelemetry, which nothing else imports. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type IdGenerator, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import { BoundedSpans } from './bounded-spans.ts';
import type { TracingOptions, TracingSettings } from './settings.ts';
import {
  type Attributes,
  idsOfCall,
  type OpenSpan,
  type SpanCounts,
  type SpanIds,
  type SpanOptions,
  type TracedCall,
  type Tracing,
} from './tracing.ts';

/** Time for one request to the collector, ms. */
const exportMs = 5000;
const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export function openTracing(
  { endpoint }: TracingSettings,
  { service, version, failing }: TracingOptions,
): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: exportMs,
    concurrencyLimit: 8,
  });
  return new OpenTelemetry(new BoundedSpans(exporter, failing), { service, version });
}

class OpenTelemetry implements Tracing {
  readonly #spans: BoundedSpans;
  readonly #provider: TracerProvider;
  readonly #ids = new GivenIds();
  readonly #tracer: ReturnType<TracerProvider['getTracer']>;
  readonly #storage = new AsyncLocalStorage<SpanIds>();

  constructor(spans: BoundedSpans, { service, version }: Pick<TracingOptions, 'service' | 'version'>) {
    this.#spans = spans;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'service.version': version }),
      idGenerator: this.#ids,
      spanProcessors: [spans],
    });
    this.#tracer = this.#provider.getTracer('trunkline', version);
  }

  begin(name: string, { kind, attributes, parent, links = [] }: SpanOptions): OpenSpan {
    const span = this.#tracer.startSpan(
      name,
      {
        kind: kinds[kind],
        attributes: { ...attributes },
        links: links.map((ids) => ({ context: contextOf(ids) })),
        root: parent === null,
      },
      parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)),
    );
    const { traceId: trace_id, spanId: span_id } = span.spanContext();
    return {
      ids: { trace_id, span_id },
      end: (last: Attributes, error) => {
        span.setAttributes({ ...last });
        if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
        span.end();
      },
    };
  }

  call({ callId, orgId, direction, startedAt, endedAt, answered, termination }: TracedCall): void {
    this.#ids.next = idsOfCall(callId);
    const span = this.#tracer.startSpan(
      'call',
      {
        kind: direction === 'inbound' ? SpanKind.SERVER : SpanKind.CLIENT,
        root: true,
        startTime: startedAt,
        attributes: {
          'trunkline.call_id': callId,
          'trunkline.org_id': orgId,
          'trunkline.direction': direction,
          'trunkline.answered': answered,
          'trunkline.termination': termination,
        },
      },
      ROOT_CONTEXT,
    );
    this.#ids.next = null;
    span.end(endedAt);
  }

  run<T>(ids: SpanIds, work: () => T): T {
    return this.#storage.run(ids, work);
  }

  get active(): SpanIds | null {
    return this.#storage.getStore() ?? null;
  }

  get counts(): SpanCounts {
    return this.#spans.counts;
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}

function contextOf({ trace_id: traceId, span_id: spanId }: SpanIds): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Random ids, but for the span of a call. */
class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  next: SpanIds | null = null;

  readonly generateTraceId = (): string => this.next?.trace_id ?? this.#random.generateTraceId();
  readonly generateSpanId = (): string => this.next?.span_id ?? this.#random.generateSpanId();
}
