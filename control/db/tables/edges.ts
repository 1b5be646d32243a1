/** The edges, their configuration, and the progress of their reports. */
import type { Generated } from 'kysely';
import type { Json } from '../json.ts';
import type { IsoTime } from './columns.ts';

/** One element of the edges' configuration as last published, with its version. */
export interface EdgeConfigItemRow {
  kind: 'organization' | 'number' | 'pathway' | 'settings' | 'edge' | 'proxies';
  key: string;
  version: number;
  /** Null: removed in that version. */
  content: Json | null;
}

export interface CounterRow {
  name: string;
  value: number;
}

export interface EdgeRow {
  id: string;
  outbox_id: string;
  sip_host: string;
  sip_port: number;
  /** of SIP over WSS; null: it takes no calls of browsers */
  wss_port: number | null;
  rtp_ip: string;
  rtp_port_min: number;
  rtp_port_max: number;
  codecs: Json<string[]>;
  software: string;
  connected_at: IsoTime;
  last_seen_at: IsoTime;
  /** null: it serves every region */
  region: string | null;
  /** share of the outbound calls that control places, against the weights of the other edges */
  weight: number;
  /** when the operator took it out of service; null: it is in service */
  draining_since: IsoTime | null;
  /** the replica that it is linked to; null: to none, or the only control plane did not say */
  replica_id: string | null;
  /** counts the edge's connections, in all replicas: the newest is the one that counts */
  link_epoch: number;
  /** the configuration that it has confirmed on this connection */
  applied_version: number;
  /** what other replicas choose an edge by: Prometheus name to value */
  gauges: Json<Record<string, number>> | null;
}

/** A SIP proxy of the operator that names the sources of its requests. */
export interface SipProxyRow {
  address: string;
  created_at: IsoTime;
}

/** The highest stored sequence number of an outbox. */
export interface OutboxRow {
  outbox_id: string;
  edge_id: string;
  acknowledged: number;
  /** when the last stored report was written, by the edge's clock; null: from before this column */
  reported_at: string | null;
}

/** A report that could not be parsed: set aside for inspection, so that it does not block later ones. */
export interface RejectedReportRow {
  id: Generated<number>;
  edge_id: string;
  outbox_id: string;
  seq: number;
  problem: string;
  report: Json;
  received_at: IsoTime;
}

/** The edges that share the work on trunks: one row. */
export interface FleetRow {
  id: 1;
  /** Grows with every change of the members. */
  epoch: number;
  /** `since`: the epoch with which it joined. */
  members: Json<{ id: string; since: number }[]>;
}

export interface EdgesTables {
  edge_config_items: EdgeConfigItemRow;
  counters: CounterRow;
  edges: EdgeRow;
  fleet: FleetRow;
  outboxes: OutboxRow;
  rejected_reports: RejectedReportRow;
  sip_proxies: SipProxyRow;
}
