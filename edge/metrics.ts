/** Counters and gauges of the edge, by Prometheus name. */

import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { processMetrics } from '#shared/process-metrics.ts';
import type { Calls } from './call/calls.ts';
import type { RunningMedia } from './media/media.ts';
import type { Signaling } from './signaling/signaling.ts';

/** Counters and gauges; labels are part of the key, as in the text format: `name{label="value"}`. */
export class Metrics {
  readonly #counters = new Map<string, number>();
  readonly #gauges = new Map<string, () => number>();

  /** Adds one to a counter. Label values must come from a fixed set, or the number of counters would be unbounded. */
  count(name: string, labels: Readonly<Record<string, string>> = {}): void {
    this.add(keyOf(name, labels), 1);
  }

  /** Adds to a counter, by its name with labels. */
  add(name: string, by: number): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  /** A value that is read on export. */
  gauge(name: string, read: () => number): void {
    this.#gauges.set(name, read);
  }

  snapshot(): Record<string, number> {
    const values = Object.fromEntries(this.#counters);
    for (const [name, read] of this.#gauges) values[name] = read();
    return values;
  }
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

/** Gauges of the edge, read when they are exported. */
export function addGauges(
  metrics: Metrics,
  { media, calls, signaling }: { media: RunningMedia; calls: Calls; signaling: Signaling },
): void {
  metrics.gauge('trunkline_edge_calls', () => calls.size);
  metrics.gauge('trunkline_edge_conferences', () => calls.conferences.size);
  metrics.gauge('trunkline_edge_conference_parties', () => calls.conferences.parties);
  metrics.gauge('trunkline_edge_protocol_revision', () => edgeProtocol.revision);
  metrics.gauge('trunkline_edge_dialogs', () => signaling.dialogs);
  metrics.gauge('trunkline_edge_draining', () => Number(calls.draining));
  metrics.gauge('trunkline_edge_engine_up', () => Number(signaling.up));
  metrics.gauge('trunkline_edge_wide_source_numbers', () => signaling.wideNumbers);
  metrics.gauge('trunkline_edge_media_legs', () => media.stats().legs);
  metrics.gauge('trunkline_edge_rtp_ports_in_use', () => media.stats().ports.inUse);
  metrics.gauge('trunkline_edge_rtp_ports', () => media.stats().ports.total);
  metrics.gauge('trunkline_edge_media_worker_deaths_total', () => media.stats().workerDeaths);
  metrics.gauge('trunkline_edge_media_legs_without_keys_total', () => media.stats().legsWithoutKeys);
  metrics.gauge('trunkline_edge_audio_frames_skipped_total', () => media.stats().skippedFrames);
}

/** What the edge's process uses, by Prometheus name. */
export function ownMetrics(): Record<string, number> {
  return Object.fromEntries(
    Object.entries(processMetrics()).map(([name, value]) => [`trunkline_edge_${name}`, value]),
  );
}
