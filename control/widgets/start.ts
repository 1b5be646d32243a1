/** Builds widgets: threads, streams, visitors, and the sweep of abandoned threads. */
import type { FastifyBaseLogger } from 'fastify';
import { SharedPlaces } from '../replicas/index.ts';
import type { WidgetDeps } from './deps.ts';
import { Live } from './live.ts';
import type { WidgetMetrics } from './metrics.ts';
import { startSpoken } from './spoken.ts';
import { Streams } from './streams.ts';
import { startSweep } from './sweep.ts';
import { textThreadAgent } from './text-thread-agent.ts';
import { Threads } from './threads.ts';
import { Visitors } from './visitors.ts';

export interface WidgetParts {
  readonly threads: Threads;
  readonly streams: Streams;
  readonly visitors: Visitors;
  readonly metrics: Pick<WidgetMetrics, 'callAllowed'>;
  /** Starts ending abandoned threads. Returns a function that stops this. */
  startSweep(): () => Promise<void>;
  /** The same of copying what is said in calls into their threads. */
  startSpoken(): () => Promise<void>;
  /** Ends streams, then answers in progress. */
  close(): Promise<void>;
}

export function createWidgets(
  {
    bus,
    clock,
    config,
    conversations,
    database,
    limits: { widgets: limits },
    quotas,
    replica,
    secrets,
    sharedCounts,
    wrongKeys,
  }: WidgetDeps,
  log: FastifyBaseLogger,
  metrics: WidgetMetrics,
): WidgetParts {
  const parts = { db: database.db, clock, live: new Live(bus.transients), log };
  const threads = new Threads({
    ...parts,
    quotas,
    replica,
    agent: textThreadAgent(conversations),
    mostMessages: limits.mostMessages,
    mostWaiting: limits.mostWaiting,
    onRefused: () => metrics.refused('thread'),
    onAnswer: metrics.answer,
  });
  const places = new SharedPlaces(sharedCounts.as('widget streams'));
  const streams = new Streams({ ...parts, places, limits, metrics });
  const visitors = new Visitors({ ...parts, secrets, sharedCounts, wrongKeys, limits, metrics });
  return {
    threads,
    streams,
    visitors,
    metrics,
    startSpoken: () =>
      startSpoken({ ...parts, mostMessages: limits.mostMessages, onLines: metrics.linesSpoken }),
    startSweep: () =>
      startSweep({
        ...parts,
        threadDays: config.retention.widgetThreads,
        onEnded: (id) => {
          parts.live.changed(id);
          metrics.threadsEnded(1);
        },
      }),
    close: async () => {
      streams.close();
      await threads.close();
      parts.live.close();
    },
  };
}
