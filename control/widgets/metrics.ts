/** Metrics of widgets. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { StreamEnd } from '../http/index.ts';

export interface WidgetMetrics {
  answer(outcome: 'answered' | 'broken_off' | 'failed', ms: number): void;
  /** A visitor's request rejected by a limit. */
  refused(scope: string): void;
  streamBegan(): void;
  streamEnded(end: StreamEnd): void;
  threadsEnded(count: number): void;
  /** A visitor got what a call needs. */
  callAllowed(): void;
  /** Lines of calls that are now in their threads. */
  linesSpoken(count: number): void;
}

export function widgetMetrics(registry: Registry): WidgetMetrics {
  const registers = [registry];
  const answers = new Histogram({
    name: 'trunkline_control_widget_answer_seconds',
    help: 'Time that the answer to a message of a widget took, by outcome.',
    labelNames: ['outcome'],
    buckets: [0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
    registers,
  });
  const refused = new Counter({
    name: 'trunkline_control_widget_refused_total',
    help: 'Visitor requests rejected by a limit, by scope.',
    labelNames: ['scope'],
    registers,
  });
  const streams = new Gauge({
    name: 'trunkline_control_widget_streams',
    help: 'Event streams of widget threads that are open.',
    registers,
  });
  const ended = new Counter({
    name: 'trunkline_control_widget_streams_ended_total',
    help: 'Event streams that ended: the reader disconnected or stalled, the thread ended, the stream expired, its key or session was revoked, or control shut down.',
    labelNames: ['end'],
    registers,
  });
  const threads = new Counter({
    name: 'trunkline_control_widget_threads_timed_out_total',
    help: 'Threads that timed out.',
    registers,
  });
  const calls = new Counter({
    name: 'trunkline_control_widget_calls_total',
    help: 'Phone sessions given to visitors of widgets, each for one call.',
    registers,
  });
  const lines = new Counter({
    name: 'trunkline_control_widget_spoken_lines_total',
    help: 'Lines spoken in calls of visitors that were stored in their threads.',
    registers,
  });
  return {
    answer: (outcome, ms) => answers.observe({ outcome }, ms / 1000),
    refused: (scope) => refused.inc({ scope }),
    streamBegan: () => streams.inc(),
    streamEnded: (end) => {
      streams.dec();
      ended.inc({ end });
    },
    threadsEnded: (count) => threads.inc(count),
    callAllowed: () => calls.inc(),
    linesSpoken: (count) => lines.inc(count),
  };
}
