/** Counters and gauges of the edge, by Prometheus name. */

import { availableParallelism, loadavg } from 'node:os';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { processMetrics } from '#shared/process-metrics.ts';
import type { Calls } from './call/calls.ts';
import type { ShardsStats } from './shards/media-shards.ts';
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

  counters(): Record<string, number> {
    return Object.fromEntries(this.#counters);
  }

  gauges(): Record<string, number> {
    return Object.fromEntries([...this.#gauges].map(([name, read]) => [name, read()]));
  }

  snapshot(): Record<string, number> {
    return { ...this.counters(), ...this.gauges() };
  }
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

type MediaCounts = Omit<ShardsStats, 'shards' | 'deaths'>;

/** Sums by name. */
export function addUp(...all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const values of all) {
    for (const [name, value] of Object.entries(values)) total[name] = (total[name] ?? 0) + value;
  }
  return total;
}

/** Gauges of the edge, read when they are exported. */
export function addGauges(
  metrics: Metrics,
  {
    media,
    testMedia,
    calls,
    maxCalls,
    signaling,
  }: {
    media: { stats(): ShardsStats };
    testMedia: { stats(): MediaCounts | null };
    calls: Calls;
    maxCalls: number;
    signaling: Signaling;
  },
): void {
  metrics.gauge('trunkline_edge_calls', () => calls.size);
  metrics.gauge('trunkline_edge_calls_most', () => maxCalls);
  metrics.gauge('trunkline_edge_host_load', hostLoad);
  metrics.gauge('trunkline_edge_conferences', () => calls.conferences.size);
  metrics.gauge('trunkline_edge_supervisors', () => calls.supervisions.size);
  metrics.gauge('trunkline_edge_conference_parties', () => calls.conferences.parties);
  metrics.gauge('trunkline_edge_protocol_revision', () => edgeProtocol.revision);
  metrics.gauge('trunkline_edge_dialogs', () => signaling.dialogs);
  metrics.gauge('trunkline_edge_draining', () => Number(calls.draining));
  metrics.gauge('trunkline_edge_engine_up', () => Number(signaling.up));
  metrics.gauge('trunkline_edge_wide_source_numbers', () => signaling.wideNumbers);
  const sum = (value: (counts: MediaCounts) => number) => () => {
    const tests = testMedia.stats();
    return value(media.stats()) + (tests ? value(tests) : 0);
  };
  const gauges: Record<string, (counts: MediaCounts) => number> = {
    trunkline_edge_media_legs: ({ legs }) => legs,
    trunkline_edge_rtp_ports_in_use: ({ ports }) => ports.inUse,
    trunkline_edge_rtp_ports: ({ ports }) => ports.total,
    trunkline_edge_media_worker_deaths_total: ({ workerDeaths }) => workerDeaths,
    trunkline_edge_media_worker_hangs_total: ({ workerHangs }) => workerHangs,
    trunkline_edge_media_legs_without_keys_total: ({ legsWithoutKeys }) => legsWithoutKeys,
    trunkline_edge_rtp_packets_over_rate_total: ({ packetsBeyondRate }) => packetsBeyondRate,
    trunkline_edge_audio_frames_skipped_total: ({ skippedFrames }) => skippedFrames,
  };
  for (const [name, value] of Object.entries(gauges)) metrics.gauge(name, sum(value));
  metrics.gauge('trunkline_edge_media_shards', () => media.stats().shards);
  metrics.gauge('trunkline_edge_media_shard_deaths_total', () => media.stats().deaths);
}

/** Load average of a minute per processor, in tenths: replicas tell each other of each change. */
function hostLoad(): number {
  const [ofMinute = 0] = loadavg();
  return Math.round((10 * ofMinute) / availableParallelism()) / 10;
}

/** What the edge's process uses, by Prometheus name. */
export function ownMetrics(): Record<string, number> {
  return Object.fromEntries(
    Object.entries(processMetrics()).map(([name, value]) => [`trunkline_edge_${name}`, value]),
  );
}
