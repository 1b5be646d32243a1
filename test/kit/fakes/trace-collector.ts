/** A collector of OpenTelemetry: takes spans over OTLP/HTTP as JSON. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it is the first of its trace. */
  readonly parentSpanId: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2: an error. */
  readonly status: { readonly code: number; readonly message?: string };
  readonly startMs: number;
  readonly endMs: number;
}

type Json = { readonly [key: string]: unknown };

export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** Bodies as they came. */
  readonly texts: string[] = [];
  /** Of the answers. */
  status = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let text = '';
      request.setEncoding('utf8');
      for await (const part of request) text += part;
      response.writeHead(this.status, { 'content-type': 'application/json' });
      if (this.status === 200 && request.method === 'POST' && request.url === '/v1/traces') {
        this.texts.push(text);
        this.spans.push(...spansIn(JSON.parse(text)));
      }
      response.end('{}');
    });
  }

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All spans of one trace. */
  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

/** By the JSON form of opentelemetry-proto. */
function spansIn(body: Json): CollectedSpan[] {
  return listOf(body.resourceSpans).flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf((resource as Json).attributes)['service.name']);
    return listOf(scopeSpans).flatMap(({ spans }) => listOf(spans).map((span) => spanOf(service, span)));
  });
}

function spanOf(service: string, span: Json): CollectedSpan {
  return {
    service,
    name: String(span.name),
    traceId: String(span.traceId),
    spanId: String(span.spanId),
    parentSpanId: String(span.parentSpanId ?? ''),
    kind: Number(span.kind),
    attributes: attributesOf(span.attributes),
    links: listOf(span.links).map(({ traceId, spanId }) => ({
      traceId: String(traceId),
      spanId: String(spanId),
    })),
    status: { code: 0, ...(span.status as object) },
    startMs: Number(BigInt(String(span.startTimeUnixNano)) / 1_000_000n),
    endMs: Number(BigInt(String(span.endTimeUnixNano)) / 1_000_000n),
  };
}

function attributesOf(list: unknown): Record<string, unknown> {
  return Object.fromEntries(
    listOf(list).map(({ key, value }) => {
      const [only] = Object.values(value as Json);
      return [String(key), only];
    }),
  );
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
