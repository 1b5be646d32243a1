/**
 * Rows as they are stored. Only types that every dialect has: text, integer, real. Times are ISO 8601 text
 * with milliseconds and `Z`, so that they sort as text; flags are 0 or 1; `Json` columns hold JSON text.
 */
import type { Generated, Kysely } from 'kysely';

/** JSON text. */
export type Json = string;
/** ISO 8601 with milliseconds and `Z`. */
export type IsoTime = string;
export type Flag = 0 | 1;

export interface OrganizationRow {
  id: string;
  name: string;
  region: string;
  sip_enabled: Flag;
  /** Sealed (db/secrets.ts); 32 bytes in hexadecimal. */
  signing_secret: string;
  created_at: IsoTime;
  /** JSON array of addresses. */
  alert_emails: Json;
  /** JSON array of E.164 numbers. */
  alert_sms_numbers: Json;
  /** Where events go that name no URL of their own. */
  event_webhook_url: string | null;
}

export interface ApiKeyRow {
  id: string;
  kind: 'customer' | 'operator';
  /** Null for operator keys. */
  org_id: string | null;
  name: string;
  /** First characters of the key, to recognise it in lists. */
  prefix: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  created_at: IsoTime;
  revoked_at: IsoTime | null;
}

export interface EdgeTokenRow {
  id: string;
  name: string;
  prefix: string;
  hash: string;
  created_at: IsoTime;
  revoked_at: IsoTime | null;
}

/** One organization's settings of one number. Archived rows keep the settings; one row per number is active. */
export interface NumberRow {
  number: string;
  org_id: string;
  source: 'sip' | 'ported' | 'provisioned';
  pathway_id: string | null;
  /** An integer, `production` or `staging`, as text. */
  pathway_version: string | null;
  /** The other writable fields of contract section 10. */
  settings: Json;
  /** `echo` or `tone:<Hz>`; answers instead of any other agent. Set by the first start only. */
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
  auth_mode: 'ip' | 'register' | null;
  /** JSON array of addresses and CIDR blocks; null on outbound. */
  allowed_ips: Json | null;
  username: string | null;
  /** Sealed. */
  password: string | null;
  realm: string | null;
  /** JSON array of header mappings (contract 2.8), or null. */
  headers: Json | null;
  failover_config: Json | null;
  codec_config: Json | null;
  alert_config: Json | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface PathwayRow {
  id: string;
  org_id: string;
  name: string;
  description: string | null;
  nodes: Json;
  edges: Json;
  /** Highest version number given so far. */
  last_version: number;
  production_version: number | null;
  staging_version: number | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface PathwayVersionRow {
  pathway_id: string;
  version_number: number;
  name: string;
  nodes: Json;
  edges: Json;
  content_hash: string;
  created_at: IsoTime;
}

/** One element of the edges' configuration as last published, and the version that brought it. */
export interface EdgeConfigItemRow {
  kind: 'organization' | 'number' | 'pathway' | 'settings';
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
  rtp_ip: string;
  rtp_port_min: number;
  rtp_port_max: number;
  codecs: Json;
  software: string;
  connected_at: IsoTime;
  last_seen_at: IsoTime;
}

/** Up to which sequence number the reports of an outbox are stored. */
export interface OutboxRow {
  outbox_id: string;
  edge_id: string;
  acknowledged: number;
}

export interface CallRow {
  id: string;
  org_id: string;
  edge_id: string;
  /** Empty until the edge has reported the call. */
  sip_call_id: string;
  parent_id: string | null;
  direction: 'inbound' | 'outbound';
  from_number: string;
  to_number: string;
  number: string;
  trunk_id: string | null;
  source_ip: string | null;
  started_at: IsoTime;
  answered_at: IsoTime | null;
  ended_at: IsoTime | null;
  status: string;
  outcome: string;
  sip_code: number | null;
  sip_reason: string | null;
  termination: string | null;
  termination_detail: string | null;
  hangup_by: string | null;
  codec: string | null;
  media: Json | null;
  agent_kind: string | null;
  pathway_id: string | null;
  pathway_version: number | null;
  max_duration: number | null;
  request_data: Json;
  variables: Json;
  /** JSON array of failed attempts (contract 3.4); null on inbound calls. */
  failover_attempts: Json | null;
  /** Stored for the customer, not used. */
  metadata: Json;
  /** Where the call's record goes when it has ended; null: where its number says. */
  webhook: string | null;
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
  /** Whether the next call over the record uses this endpoint first. */
  active: Flag;
}

/** What the probes of a number's trunk came to in one hour. */
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

export interface DiscoveryRow {
  /** `disc_<uuid>` */
  id: string;
  org_id: string;
  host: string;
  /** DiscoveryResult of shared/trunk-protocol.ts as last reported. */
  result: Json;
  started_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestCallRow {
  /** `tc_<uuid>` */
  id: string;
  org_id: string;
  /** TestCallState of shared/edge-protocol.ts as last reported. */
  state: Json;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** An event on its way to a customer. */
export interface WebhookDeliveryRow {
  /** `evt_<uuid>` */
  id: string;
  org_id: string;
  type: string;
  url: string;
  /** Of what the event is about, such as a call. */
  subject_id: string;
  /** Null until the first attempt, which makes it. */
  body: Json | null;
  created_at: IsoTime;
  first_attempt_at: IsoTime | null;
  attempts: number;
  /** Null: delivered, or given up. */
  next_attempt_at: IsoTime | null;
  delivered_at: IsoTime | null;
  last_status: number | null;
  last_error: string | null;
}

/** Some messages of a call's SIP trace, as one report brought them. */
export interface TracePartRow {
  id: Generated<number>;
  call_id: string;
  messages: Json;
  message_count: number;
  truncated: Flag;
  received_at: IsoTime;
}

/** Some lines of a call's conversation, as one report brought them. */
export interface TranscriptPartRow {
  id: Generated<number>;
  call_id: string;
  entries: Json;
  received_at: IsoTime;
}

/** A report that could not be understood: kept for a person, so that it does not block those behind it. */
export interface RejectedReportRow {
  id: Generated<number>;
  edge_id: string;
  outbox_id: string;
  seq: number;
  problem: string;
  report: Json;
  received_at: IsoTime;
}

export interface IdempotentAnswerRow {
  org_id: string;
  path: string;
  key: string;
  /** SHA-256 of the request body. */
  body_hash: string;
  status: number;
  content_type: string;
  answer: string;
  created_at: IsoTime;
}

export interface Tables {
  organizations: OrganizationRow;
  api_keys: ApiKeyRow;
  edge_tokens: EdgeTokenRow;
  numbers: NumberRow;
  sip_configurations: SipConfigurationRow;
  pathways: PathwayRow;
  pathway_versions: PathwayVersionRow;
  edge_config_items: EdgeConfigItemRow;
  counters: CounterRow;
  edges: EdgeRow;
  outboxes: OutboxRow;
  calls: CallRow;
  trunk_endpoints: TrunkEndpointRow;
  trunk_hours: TrunkHourRow;
  discoveries: DiscoveryRow;
  test_calls: TestCallRow;
  webhook_deliveries: WebhookDeliveryRow;
  trace_parts: TracePartRow;
  transcript_parts: TranscriptPartRow;
  rejected_reports: RejectedReportRow;
  idempotent_answers: IdempotentAnswerRow;
}

/** A database or a running transaction of it. */
export type Db = Kysely<Tables>;
