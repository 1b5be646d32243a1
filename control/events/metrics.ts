/** Metrics of events and their streams. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { StreamEnd } from '../http/index.ts';
import { eventCounts } from './counts.ts';

export interface EventMetrics {
  refused(scope: string): void;
  streamBegan(): void;
  streamEnded(end: StreamEnd): void;
  /** A reader was told that events it has not seen are no longer stored. */
  missed(): void;
  windows(count: number): void;
}

export function eventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  const streams = new Gauge({
    name: 'trunkline_control_event_streams',
    help: 'Streams of organizations’ events that are open.',
    registers,
  });
  const refused = new Counter({
    name: 'trunkline_control_event_streams_refused_total',
    help: 'Streams of events that were refused because too many were open, by scope.',
    labelNames: ['scope'],
    registers,
  });
  const ended = new Counter({
    name: 'trunkline_control_event_streams_ended_total',
    help: 'Streams of events that ended: the reader disconnected or stalled, the key was revoked, the stream was open for its longest time, or control shut down.',
    labelNames: ['end'],
    registers,
  });
  const missed = new Counter({
    name: 'trunkline_control_event_streams_missed_total',
    help: 'Times that a reader came back, or was so slow, that events it had not read were no longer stored.',
    registers,
  });
  const windows = new Gauge({
    name: 'trunkline_control_event_windows',
    help: 'Organizations whose events are stored, because somebody reads them or did lately.',
    registers,
  });
  new Counter({
    name: 'trunkline_control_events_total',
    help: 'Events stored, those of them stored without data because it was too large, and events deleted before their time because of their number or size.',
    labelNames: ['what'],
    registers,
    collect() {
      this.reset();
      this.inc({ what: 'stored' }, eventCounts.recorded);
      this.inc({ what: 'shortened' }, eventCounts.shortened);
      this.inc({ what: 'crowded_out' }, eventCounts.crowdedOut);
    },
  });
  return {
    refused: (scope) => refused.inc({ scope }),
    streamBegan: () => streams.inc(),
    streamEnded: (end) => {
      streams.dec();
      ended.inc({ end });
    },
    missed: () => missed.inc(),
    windows: (count) => windows.set(count),
  };
}
