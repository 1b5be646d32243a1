/** The parts of an edge as /health tells them, from what the edge reports. Pure. */
import type { EdgeParts } from '#shared/api/deployment.ts';
import { type ConnectedEdge, diskOf, hasEngine } from '../edge-link/index.ts';

const dayMs = 24 * 3_600_000;
/** As the edge itself warns (shared/certificate-problems.ts). */
const soonMs = 14 * dayMs;
/** Reports that wait for control: more than a busy edge has for a moment. */
const manyReports = 10_000;

type Reported = Pick<ConnectedEdge, 'edgeId' | 'metrics'>;

/** @param now ms since 1970 */
export function partsOfEdge(edge: ConnectedEdge, now: number): EdgeParts {
  return {
    id: edge.edgeId,
    engine: hasEngine(edge) ? 'ok' : 'down',
    media: mediaOf(edge),
    disk: diskOf(edge),
    queue: queueOf(edge),
    certificate: certificateOf(edge, now),
  };
}

function mediaOf({ metrics }: Reported): EdgeParts['media'] {
  const { trunkline_edge_media_shards: shards } = metrics;
  if (shards === undefined) return null;
  return shards > 0 ? 'ok' : 'down';
}

function queueOf({ metrics }: Reported): EdgeParts['queue'] {
  const { trunkline_edge_outbox_pending: pending, trunkline_edge_outbox_held: held = 0 } = metrics;
  if (pending === undefined) return null;
  return pending > manyReports || held > 0 ? 'waiting' : 'ok';
}

function certificateOf({ metrics }: Reported, now: number): EdgeParts['certificate'] {
  const seconds = metrics.trunkline_engine_certificate_expires_seconds;
  if (seconds === undefined) return null;
  const leftMs = seconds * 1000 - now;
  if (leftMs <= 0) return 'expired';
  if ((metrics.trunkline_engine_certificate_other_host ?? 0) > 0) return 'other_host';
  return leftMs <= soonMs ? 'expires_soon' : 'ok';
}
