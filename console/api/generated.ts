/**
 * Written by `node scripts/console-types.ts` from the OpenAPI document; do not edit.
 * Long because it is one table of operations.
 */
export interface Operations {
  'GET /v1/session': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly role: "read" | "member" | "admin" | "operator"; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly organization: { readonly id: string; readonly name: string; readonly sip_enabled: boolean } | null; readonly session: { readonly id: string; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly role: "read" | "member" | "admin" | "operator"; readonly created_at: string; readonly last_used_at: string; readonly idle_until: string; readonly expires_at: string; readonly address: string; readonly user_agent: string | null } | null; readonly csrf_token: string | null }; readonly errors: null };
  };
  'POST /v1/session': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: Readonly<Record<string, never>>;
    answer: { readonly data: { readonly role: "read" | "member" | "admin" | "operator"; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly organization: { readonly id: string; readonly name: string; readonly sip_enabled: boolean } | null; readonly session: { readonly id: string; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly role: "read" | "member" | "admin" | "operator"; readonly created_at: string; readonly last_used_at: string; readonly idle_until: string; readonly expires_at: string; readonly address: string; readonly user_agent: string | null } | null; readonly csrf_token: string | null }; readonly errors: null };
  };
  'DELETE /v1/session': {
    path: Readonly<Record<string, never>>;
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly id: string }; readonly errors: null };
  };
  'GET /v1/sessions': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly sessions: readonly ({ readonly id: string; readonly key: { readonly id: string; readonly name: string; readonly begins: string }; readonly role: "read" | "member" | "admin" | "operator"; readonly created_at: string; readonly last_used_at: string; readonly idle_until: string; readonly expires_at: string; readonly address: string; readonly user_agent: string | null; readonly current: boolean })[]; readonly total_count: number }; readonly errors: null };
  };
  'DELETE /v1/sessions/{id}': {
    path: { readonly id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly id: string }; readonly errors: null };
  };
  'GET /v1/sip/calls': {
    path: Readonly<Record<string, never>>;
    query: { readonly phone_number?: string; readonly limit?: number; readonly before?: string; readonly direction?: "inbound" | "outbound"; readonly status?: string; readonly from_date?: string; readonly to_date?: string; readonly other_party?: string; readonly termination?: string; readonly max_mos?: number; readonly trunk_id?: string };
    body: undefined;
    answer: { readonly data: { readonly calls: readonly ({ readonly id: string; readonly call_id: string | null; readonly parent_id: string | null; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly status: string; readonly sip_code: number | null; readonly outcome: string; readonly duration_seconds: number; readonly started_at: string; readonly answered_at: string | null; readonly ended_at: string | null; readonly source_ip: string | null; readonly edge_id: string; readonly trunk_id: string | null; readonly codec: string | null; readonly hangup_by: string | null; readonly termination: string | null; readonly termination_detail: string | null; readonly failover_attempts: readonly ({ readonly host: string; readonly port: number; readonly priority: number; readonly started_at: string; readonly sip_code: number | null; readonly error: string | null; readonly duration_ms: number })[]; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null })[]; readonly next: string | null }; readonly errors: null };
  };
  'GET /v1/sip/calls/{call_id}': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly call: { readonly id: string; readonly call_id: string | null; readonly parent_id: string | null; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly status: string; readonly sip_code: number | null; readonly outcome: string; readonly duration_seconds: number; readonly started_at: string; readonly answered_at: string | null; readonly ended_at: string | null; readonly source_ip: string | null; readonly edge_id: string; readonly trunk_id: string | null; readonly codec: string | null; readonly hangup_by: string | null; readonly termination: string | null; readonly termination_detail: string | null; readonly failover_attempts: readonly ({ readonly host: string; readonly port: number; readonly priority: number; readonly started_at: string; readonly sip_code: number | null; readonly error: string | null; readonly duration_ms: number })[]; readonly media: { readonly packets_sent: number; readonly packets_received: number; readonly packets_lost: number; readonly jitter_ms: number | null; readonly round_trip_ms: number | null; readonly peer_loss_percent?: number; readonly rtcp_packets_received?: number; readonly peer_hears?: "yes" | "no" | "unknown"; readonly packets_from_elsewhere?: number; readonly mos: number | null; readonly mos_received?: number | null; readonly mos_sent?: number | null; readonly verdict: "two_way" | "send_only" | "receive_only" | "none"; readonly cause: string | null; readonly summary?: string; readonly keys?: "telephone-event" | "none" } | null } }; readonly errors: null };
  };
  'GET /v1/sip/calls/{call_id}/trace': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly data: { readonly call_id: string; readonly truncated: boolean; readonly messages: readonly ({ readonly seq: number; readonly at: string; readonly direction: "sent" | "received"; readonly local: string; readonly remote: string; readonly transport: "tls" | "wss"; readonly start_line: string; readonly raw: string })[] }; readonly errors: null };
  };
  'GET /v1/calls/{call_id}': {
    path: { readonly call_id: string };
    query: Readonly<Record<string, never>>;
    body: undefined;
    answer: { readonly call_id: string; readonly c_id: string; readonly batch_id: null; readonly to: string; readonly from: string; readonly inbound: boolean; readonly direction: "inbound" | "outbound"; readonly status: string; readonly queue_status: string; readonly completed: boolean; readonly created_at: string; readonly started_at: string; readonly end_at: string | null; readonly call_length: number; readonly corrected_duration: number; readonly max_duration: number | null; readonly answered_by: "human" | "voicemail" | "screening" | "unknown" | null; readonly call_ended_by: "ASSISTANT" | "USER" | "API" | "ERROR" | null; readonly error_message: string | null; readonly pathway_id: string | null; readonly pathway_version: number | null; readonly persona_id: string | null; readonly request_data: { readonly [name: string]: unknown }; readonly metadata: { readonly [name: string]: unknown }; readonly variables: { readonly [name: string]: unknown }; readonly transferred_to: string | null; readonly concatenated_transcript: string; readonly transcripts: readonly ({ readonly id: string; readonly created_at: string; readonly text: string; readonly user: "user" | "assistant" | "agent-action"; readonly confidence: number | null; readonly language: string | null })[]; readonly pathway_logs: readonly ({ readonly role: string; readonly text: string; readonly node_id: string | null; readonly node_name: string | null; readonly created_at: string })[]; readonly sip_call_id: string | null; readonly trunk_id: string | null; readonly omitted?: readonly (string)[] };
  };
  'GET /v1/calls/transcripts': {
    path: Readonly<Record<string, never>>;
    query: { readonly query: string; readonly limit?: number; readonly before?: string };
    body: undefined;
    answer: { readonly data: { readonly lines: readonly ({ readonly id: string; readonly call_id: string; readonly created_at: string; readonly user: "user" | "assistant" | "agent-action"; readonly text: string; readonly direction: "inbound" | "outbound"; readonly from: string; readonly to: string; readonly started_at: string })[] }; readonly errors: null };
  };
  'GET /v1/admin/edges': {
    path: Readonly<Record<string, never>>;
    query: { readonly limit?: number; readonly offset?: number };
    body: undefined;
    answer: { readonly data: { readonly edges: readonly ({ readonly id: string; readonly software: string; readonly version: "older" | "same" | "newer" | null; readonly sip: { readonly host: string; readonly port: number }; readonly rtp: { readonly ip: string; readonly port_min: number; readonly port_max: number }; readonly region: string | null; readonly weight: number; readonly draining: boolean; readonly draining_since: string | null; readonly connected: boolean; readonly connected_since: string | null; readonly last_seen_at: string; readonly takes_calls: boolean | null; readonly calls: number | null; readonly load: { readonly most_calls: number | null; readonly rtp_ports: number | null; readonly rtp_ports_in_use: number | null; readonly host_load: number | null } | null; readonly engine: "up" | "down" | null; readonly disk: "ok" | "failing" | "refusing_calls" | null; readonly config_version: number | null })[]; readonly total_count: number }; readonly errors: null };
  };
}
