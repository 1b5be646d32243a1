/** Gauges of the edge, read when they are exported. */
import type { Calls } from '../call/calls.ts';
import type { RunningMedia } from '../media/media.ts';
import type { Metrics } from '../metrics.ts';
import type { Signaling } from '../signaling/signaling.ts';

export function addGauges(
  metrics: Metrics,
  { media, calls, signaling }: { media: RunningMedia; calls: Calls; signaling: Signaling },
): void {
  metrics.gauge('trunkline_edge_calls', () => calls.size);
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
