/** Spans that wait for the collector: at most so many, counted, in batches. */
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { SpanCounts } from './tracing.ts';

/** Spans that wait; each takes about 1 KiB. */
const mostSpans = 2048;
const batchSpans = 512;
/** Pause between batches, ms. */
const pauseMs = 2000;
/** Time for what waits at the end of the program, ms. */
const closeMs = 5000;

type Done = Parameters<SpanExporter['export']>[1];
type Context = Parameters<SpanProcessor['onStart']>[1];

export class BoundedSpans implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #failing: (error: Error) => void;
  #waiting = 0;
  #sent = 0;
  #dropped = 0;
  #failed = 0;
  #isFailing = false;

  /** @param failing called when the collector begins to take no spans */
  constructor(exporter: SpanExporter, failing: (error: Error) => void) {
    this.#failing = failing;
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => this.#export(exporter, spans, done),
        shutdown: () => exporter.shutdown(),
      },
      // It drops without a word what is beyond its own bound.
      maxQueueSize: mostSpans,
      maxExportBatchSize: batchSpans,
      scheduledDelayMillis: pauseMs,
      exportTimeoutMillis: closeMs,
    });
  }

  get counts(): SpanCounts {
    return { sent: this.#sent, dropped: this.#dropped, failed: this.#failed };
  }

  onStart(span: Span, parent: Context): void {
    this.#batches.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= mostSpans) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  async shutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMs);
    });
    // A collector that takes nothing must not keep the program.
    await Promise.race([this.#batches.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  #export(exporter: SpanExporter, spans: ReadableSpan[], done: Done): void {
    exporter.export(spans, (result) => {
      this.#waiting -= spans.length;
      // ExportResultCode.SUCCESS of @opentelemetry/core.
      if (result.code === 0) {
        this.#sent += spans.length;
        this.#isFailing = false;
      } else {
        this.#failed += spans.length;
        if (!this.#isFailing) this.#failing(result.error ?? new Error('the collector did not take spans'));
        this.#isFailing = true;
      }
      done(result);
    });
  }
}
