/** Builds what serves events: where they are read, and the open streams. */
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { OpenStreams } from '../http/index.ts';
import { SharedPlaces } from '../replicas/index.ts';
import type { EventDeps } from './deps.ts';
import { EventFeed } from './feed.ts';
import { type EventMetrics, eventMetrics } from './metrics.ts';
import { eventSubject } from './record.ts';
import { startEventSweep } from './sweep.ts';

export interface Events {
  readonly feed: EventFeed;
  readonly streams: OpenStreams;
  readonly metrics: EventMetrics;
  /** Starts deleting old events. Returns a function that stops this. */
  startSweep(): () => Promise<void>;
  /** Ends streams. */
  close(): void;
}

export function createEvents(
  { announcements, clock, database, followers, limits: { events: limits }, sharedCounts }: EventDeps,
  log: FastifyBaseLogger,
  registry: Registry,
): Events {
  const metrics = eventMetrics(registry);
  const feed = new EventFeed({ database, followers, clock, limits, log });
  const unsubscribe = announcements.on(eventSubject, () => feed.stored());
  const streams = new OpenStreams({
    clock,
    places: new SharedPlaces(sharedCounts.as('event streams')),
    heartbeatMs: limits.heartbeatMs,
    refused: metrics.refused,
    began: metrics.streamBegan,
    ended: metrics.streamEnded,
  });
  return {
    feed,
    streams,
    metrics,
    startSweep: () => startEventSweep({ db: database.db, clock, limits, log, onRound: metrics.windows }),
    close: () => {
      unsubscribe();
      streams.close();
      feed.close();
    },
  };
}
