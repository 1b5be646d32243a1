/** Numbers, their trunks, and what is known of these. */
import type { Refusal } from '#shared/edge-protocol/fleet.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { TestCallState } from '#shared/edge-protocol/reports.ts';
import type { TransferMode } from '#shared/transfer-mode.ts';
import type { DiscoveryResult, EndpointCertificate } from '#shared/trunk-protocol.ts';
import type { Json } from '../json.ts';
import type { Flag, IsoTime } from './columns.ts';

/** One organization's settings of one number. Archived rows keep the settings; one row per number is active. */
export interface NumberRow {
  number: string;
  org_id: string;
  source: 'sip' | 'ported' | 'provisioned';
  pathway_id: string | null;
  /** An integer, `production` or `staging`, as text. */
  pathway_version: string | null;
  persona_id: string | null;
  /** The other writable fields of contract section 10. */
  settings: Json;
  /** `echo` or `tone:<Hz>`; overrides any other agent. Set by the first start only. */
  builtin_agent: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
  archived_at: IsoTime | null;
}

export interface SipConfigurationRow {
  id: string;
  org_id: string;
  number: string;
  direction: 'inbound' | 'outbound';
  priority: number;
  sip_endpoint: string | null;
  port: number;
  auth_mode: 'ip' | 'register' | 'digest' | null;
  /** JSON array of addresses and CIDR blocks; null on outbound. */
  allowed_ips: Json<string[]> | null;
  /** What the peer may make the edge call by REFER. */
  transfer_mode: TransferMode;
  username: string | null;
  /** Sealed. */
  password: string | null;
  realm: string | null;
  /** JSON array of header mappings (contract 2.8), or null. */
  headers: Json<HeaderMapping[]> | null;
  failover_config: Json | null;
  codec_config: Json | null;
  alert_config: Json | null;
  /** Null on inbound, and by default. */
  region_config: Json<{ region: string | null; strict: boolean }> | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** The last probe of one endpoint of an outbound record. */
export interface TrunkEndpointRow {
  configuration_id: string;
  host: string;
  port: number;
  healthy: Flag;
  response_time_ms: number | null;
  checked_at: IsoTime;
  consecutive_failures: number;
  /** Whether the next call over the record tries this endpoint first. */
  active: Flag;
  /** As it was seen last; null: never. */
  certificate: Json<EndpointCertificate> | null;
}

/** The probes of a number's trunk in one hour. */
export interface TrunkHourRow {
  org_id: string;
  number: string;
  /** `2030-01-01T05`, UTC */
  hour: string;
  rounds: number;
  healthy_rounds: number;
  answered_probes: number;
  /** sum over the answered probes */
  response_ms: number;
}

/** The last reported registration state of an inbound record. */
export interface RegistrationRow {
  configuration_id: string;
  state: 'registering' | 'registered' | 'failed' | 'ended';
  /** `host:port` */
  registrar: string;
  at: IsoTime;
  expires_at: IsoTime | null;
  /** When the next attempt after a failed one starts. */
  next_try_at: IsoTime | null;
  sip_code: number | null;
  /** One sentence. */
  last_error: string | null;
  /** The edge that reported it. */
  edge_id: string | null;
  /** Address of the registrar that granted the last binding. */
  bound_at: string | null;
  /** The registrar's rejection while it applies; null: none. */
  refusal: Json<Refusal> | null;
}

export interface DiscoveryRow {
  /** `disc_<uuid>` */
  id: string;
  org_id: string;
  host: string;
  /** DiscoveryResult of shared/trunk-protocol.ts as last reported. */
  result: Json<DiscoveryResult>;
  started_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestCallRow {
  /** `tc_<uuid>` */
  id: string;
  org_id: string;
  /** TestCallState of shared/edge-protocol/reports.ts as last reported. */
  state: Json<TestCallState>;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface SipTables {
  numbers: NumberRow;
  sip_configurations: SipConfigurationRow;
  trunk_endpoints: TrunkEndpointRow;
  trunk_hours: TrunkHourRow;
  registrations: RegistrationRow;
  discoveries: DiscoveryRow;
  test_calls: TestCallRow;
}
