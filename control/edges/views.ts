/** Edges as operators see them: pure functions of a row and of what a connected edge reported. */
import type { EdgeView } from '#shared/api/edges.ts';
import { comparedRevision } from '#shared/edge-protocol/revision.ts';
import type { EdgeRow } from '../db/index.ts';
import { type ConnectedEdge, diskOf, hasEngine, takesCalls } from '../edge-link/index.ts';

/** @param live absent: not connected */
export function edgeView(row: EdgeRow, live: ConnectedEdge | undefined): EdgeView {
  const { draining_since } = row;
  // Right after its connection it has not reported anything yet.
  const heard = live && Object.keys(live.metrics).length > 0 ? live : null;
  return {
    id: row.id,
    software: row.software,
    version: heard && comparedRevision(heard.metrics.trunkline_edge_protocol_revision),
    sip: { host: row.sip_host, port: row.sip_port, wss_url: wssUrlOf(row) },
    rtp: { ip: row.rtp_ip, port_min: row.rtp_port_min, port_max: row.rtp_port_max },
    region: row.region,
    weight: row.weight,
    draining: draining_since !== null,
    draining_since,
    connected: live !== undefined,
    connected_since: live ? row.connected_at : null,
    last_seen_at: row.last_seen_at,
    takes_calls: heard && takesCalls(heard),
    calls: heard && (heard.metrics.trunkline_edge_calls ?? 0),
    load: heard && loadOf(heard),
    engine: heard && (hasEngine(heard) ? 'up' : 'down'),
    disk: heard && diskOf(heard),
    certificate: heard && certificateOf(heard),
    config_version: live ? live.appliedVersion : null,
  };
}

function wssUrlOf({ sip_host: host, wss_port }: EdgeRow): string | null {
  return wss_port === null ? null : `wss://${host.includes(':') ? `[${host}]` : host}:${wss_port}/`;
}

/** Edges of earlier versions do not report all of it. */
function loadOf({ metrics }: ConnectedEdge): EdgeView['load'] {
  return {
    most_calls: metrics.trunkline_edge_calls_most ?? null,
    rtp_ports: metrics.trunkline_edge_rtp_ports ?? null,
    rtp_ports_in_use: metrics.trunkline_edge_rtp_ports_in_use ?? null,
    host_load: metrics.trunkline_edge_host_load ?? null,
  };
}

function certificateOf({ metrics }: ConnectedEdge): EdgeView['certificate'] {
  const seconds = metrics.trunkline_engine_certificate_expires_seconds;
  if (seconds === undefined) return null;
  return {
    expires_at: new Date(seconds * 1000).toISOString(),
    other_host: (metrics.trunkline_engine_certificate_other_host ?? 0) > 0,
  };
}
