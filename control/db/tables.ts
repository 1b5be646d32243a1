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
  /** CallLimits of shared/edge-protocol.ts; null: the deployment's defaults. */
  call_limits: Json | null;
  /** Set: its keys open nothing and its numbers are not answered. */
  disabled_at: IsoTime | null;
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
  /** Exact to a minute; null: never. */
  last_used_at: IsoTime | null;
}

export interface EdgeTokenRow {
  id: string;
  name: string;
  prefix: string;
  hash: string;
  created_at: IsoTime;
  revoked_at: IsoTime | null;
  /** Exact to a minute; null: never. */
  last_used_at: IsoTime | null;
}

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
  /** How often a version came into production. */
  publications: number;
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
  persona_id: string | null;
  max_duration: number | null;
  request_data: Json;
  variables: Json;
  /** JSON array of failed attempts (contract 3.4); null on inbound calls. */
  failover_attempts: Json | null;
  /** Stored for the customer, not used. */
  metadata: Json;
  /** Where the call's record goes when it has ended; null: where its number says. */
  webhook: string | null;
  /** As it was named. */
  transferred_to: string | null;
  answered_by: 'human' | 'voicemail' | 'unknown' | null;
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

/** How the registration of an inbound record last stood. */
export interface RegistrationRow {
  configuration_id: string;
  state: 'registering' | 'registered' | 'failed' | 'ended';
  /** `host:port` */
  registrar: string;
  at: IsoTime;
  expires_at: IsoTime | null;
  sip_code: number | null;
  /** One sentence. */
  last_error: string | null;
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

/** What the probes of one endpoint came to lately, for alerts. */
export interface TrunkProbeRunRow {
  configuration_id: string;
  host: string;
  port: number;
  checked_at: IsoTime;
  /** When the failures began that have not been broken since; null after a success. */
  failing_since: IsoTime | null;
  /** JSON array of the last successful probes' times in ms, oldest first. */
  response_times: Json;
}

export interface AlertRow {
  id: string;
  org_id: string;
  configuration_id: string;
  number: string;
  direction: 'inbound' | 'outbound';
  endpoint: string | null;
  kind: 'unreachable' | 'failure_rate' | 'response_time';
  /** Both as they were when it was raised: minutes, percent or ms, by kind. */
  threshold: number;
  value: number;
  window_minutes: number | null;
  /** How many evaluations in a row spoke for an end. */
  calm_evaluations: number;
  raised_at: IsoTime;
  resolved_at: IsoTime | null;
}

/** A message about an alert on its way to one person. */
export interface AlertNoticeRow {
  id: string;
  org_id: string;
  alert_id: string;
  channel: 'email' | 'sms';
  event: 'raised' | 'resolved';
  /** An address or an E.164 number. */
  recipient: string;
  subject: string;
  text: string;
  created_at: IsoTime;
  first_attempt_at: IsoTime | null;
  attempts: number;
  /** Null: delivered, or given up. */
  next_attempt_at: IsoTime | null;
  delivered_at: IsoTime | null;
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

/** Work under an Idempotency-Key that has begun and has not been answered. */
export interface IdempotentWorkRow {
  org_id: string;
  path: string;
  key: string;
  /** SHA-256 of the request body. */
  body_hash: string;
  /** That of the row the work makes. */
  work_id: string;
  /** Start of the program that began it. */
  instance: string;
  created_at: IsoTime;
}

export interface PersonaRow {
  id: string;
  org_id: string;
  name: string;
  role: string | null;
  description: string | null;
  /** JSON array of texts. */
  tags: Json;
  production_version_id: string;
  draft_version_id: string;
  created_at: IsoTime;
  updated_at: IsoTime;
  deleted_at: IsoTime | null;
}

export interface PersonaVersionRow {
  id: string;
  persona_id: string;
  version_type: 'production' | 'draft';
  version_number: number;
  orchestration_prompt: string | null;
  personality_prompt: string | null;
  /** JSON array of conditions (contract 12). */
  pathway_conditions: Json;
  call_config: Json;
  /** JSON array of tool ids. */
  default_tools: Json;
  content_hash: string;
  promoted_from_version_id: string | null;
  promoted_at: IsoTime | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** A publication that waits for its batch of test runs (contract 6.11, publish_on_pass). */
export interface PendingPromotionRow {
  batch_id: string;
  org_id: string;
  kind: 'pathway' | 'persona';
  subject_id: string;
  /** The version's number, of a persona the id of its draft. */
  version: string;
  content_hash: string;
  /** What was in production when it was asked for; another publication alters it. */
  in_production: string;
  created_at: IsoTime;
}

/** A text conversation with a pathway (contract 11.3). */
export interface ChatRow {
  id: string;
  org_id: string;
  pathway_id: string;
  pathway_version: number;
  /** StoredAgent of control/chats/chats.ts: its graphs as they were at the start. */
  agent: Json;
  /** TextState of control/conversations/text-session.ts. */
  state: Json;
  /** Grows with each message. */
  revision: number;
  completed: Flag;
  created_at: IsoTime;
  last_message_at: IsoTime;
}

/** Who leads to a pathway besides numbers: `pathway:<id>@<version>`, or `persona:<id>` by its production version. */
export interface PathwayReferenceRow {
  source: string;
  pathway_id: string;
  /** An integer, `production` or `staging`, as text; null: production. */
  version: string | null;
}

/** A tool of an organization (contract 8.1). */
export interface ToolRow {
  /** uuid, without the `TL-` that it carries outside. */
  id: string;
  org_id: string;
  name: string;
  description: string;
  integration: string;
  action: string;
  input_schema: Json | null;
  /** JSON text, of a string too. */
  body: Json | null;
  speech: string | null;
  /** ms */
  timeout: number;
  cache: Flag;
  response_data: Json | null;
  max_retries: number;
  /** seconds */
  cooldown: number;
  resource_id: string | null;
  public: Flag;
  label: string | null;
  /** Grows with every update, so that no cached result outlives it. */
  version: number;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** Where an integration's tools find their target, and the keys to it. */
export interface IntegrationResourceRow {
  id: string;
  org_id: string;
  integration: string;
  name: string;
  /** Sealed JSON. */
  credentials: string;
  status: 'active' | 'inactive';
  /** Answers 401 in a row. */
  refusals: number;
  created_at: IsoTime;
}

/** What became of one run of a tool; nothing of what was sent or answered. */
export interface ToolRunRow {
  id: string;
  org_id: string;
  tool_id: string;
  /** `api`, `call`, `chat`, `widget` or `test` */
  source: string;
  conversation_id: string | null;
  started_at: IsoTime;
  success: Flag;
  cached: Flag;
  status_code: number | null;
  duration_ms: number;
  attempts: number;
  error: string | null;
}

/** One change that somebody made (control/audit). */
export interface AuditEntryRow {
  id: string;
  /** Null: of the deployment, such as an operator key. */
  org_id: string | null;
  at: IsoTime;
  actor_kind: 'api_key' | 'operator' | 'command_line' | 'system';
  /** First characters of the key; null where no key was used. */
  actor: string | null;
  request_id: string | null;
  /** Such as `sip` or `keys`. */
  area: string;
  subject_id: string;
  /** Such as `update`. */
  action: string;
  /** JSON array of names, without values. */
  changed_fields: Json;
}

export type PortStatus =
  | 'waiting_for_signature'
  | 'submitted'
  | 'in_progress'
  | 'completed'
  | 'canceled'
  | 'failed';

export interface PortRequestRow {
  /** In the order of creation. */
  seq: Generated<number>;
  /** `port_<uuid>` */
  id: string;
  org_id: string;
  /** Follows from those of the numbers. */
  status: PortStatus;
  /** Canonical names of contract 5.3. */
  details: Json;
  /** Sealed. */
  pin: string | null;
  /** `YYYY-MM-DD` */
  target_port_date: string;
  foc_date: string | null;
  /** Of the last failure or cancellation. */
  reason: string | null;
  /** SHA-256 of the signature token, hexadecimal. */
  token_hash: string;
  /** Sealed; null once nobody may sign any more. */
  token: string | null;
  signature_expires_at: IsoTime;
  signed_at: IsoTime | null;
  signed_name: string | null;
  signer_address: string | null;
  signer_agent: string | null;
  /** SHA-256 of the letter's text as shown, hexadecimal. */
  letter_hash: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface PortNumberRow {
  request_id: string;
  position: number;
  number: string;
  status: PortStatus;
  /** Not terminal. */
  open: Flag;
}

export interface PortHistoryRow {
  id: Generated<number>;
  request_id: string;
  at: IsoTime;
  from_status: PortStatus | null;
  to_status: PortStatus;
  actor: 'customer' | 'signer' | 'operator' | 'system';
  /** Id of the API key, where there was one. */
  actor_id: string | null;
  reason: string | null;
  /** JSON array. */
  numbers: Json;
}

export interface PortDocumentRow {
  /** `doc_<uuid>` */
  id: string;
  org_id: string;
  /** In the folder of documents. */
  file_name: string;
  media_type: string;
  /** Bytes, before encryption. */
  size: number;
  /** SHA-256, hexadecimal. */
  hash: string;
  created_at: IsoTime;
  /** Whether a request names it. */
  referenced: Flag;
  /** Being deleted. */
  expired_at: IsoTime | null;
}

export interface PortRequestDocumentRow {
  request_id: string;
  document_id: string;
  position: number;
}

/** A letter of authorization as it was signed. */
export interface PortLetterRow {
  request_id: string;
  /** The exact text that was shown. */
  letter: string;
  /** Sealed base64. */
  pdf: string;
  /** SHA-256 of the PDF, hexadecimal. */
  pdf_hash: string;
  created_at: IsoTime;
}

/** A message about a port request on its way to one person. */
export interface PortMailRow {
  id: string;
  org_id: string;
  request_id: string;
  kind: 'signature' | 'status';
  recipient: string;
  subject: string;
  /** Sealed: it may hold the link to sign. */
  text: string;
  created_at: IsoTime;
  first_attempt_at: IsoTime | null;
  attempts: number;
  /** Null: delivered, or given up. */
  next_attempt_at: IsoTime | null;
  delivered_at: IsoTime | null;
  last_error: string | null;
}

/** The order at the carrier's porting API for one request. */
export interface PortOrderRow {
  /** That of the port request. */
  id: string;
  org_id: string;
  state: 'submitting' | 'following' | 'canceling' | 'done';
  carrier_order_id: string | null;
  /** In a row without success. */
  attempts: number;
  /** Null: nothing is left to do. */
  next_attempt_at: IsoTime | null;
  last_error: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** A chat for pages (contract 7). */
export interface WidgetRow {
  id: string;
  org_id: string;
  name: string;
  pathway_id: string | null;
  persona_id: string | null;
  /** An integer, `production` or `staging`, as text; null with a persona. */
  pathway_version: string | null;
  /** WidgetConfig of shared/api/widgets.ts. */
  config: Json;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface WidgetThreadRow {
  /** Grows in the order of creation. */
  ordinal: Generated<number>;
  id: string;
  widget_id: string;
  org_id: string;
  visitor_id: string | null;
  agent_hash: string;
  /** What the conversation was told at its start. */
  facts: Json;
  /** How far the conversation is; null before the first answer. */
  state: Json | null;
  message_count: number;
  /** Messages that the agent has taken notice of. */
  answered_count: number;
  created_at: IsoTime;
  /** When it ends unless a message comes before. */
  ends_at: IsoTime;
  ended_at: IsoTime | null;
  live_agent_handoff_at: IsoTime | null;
}

/** Who answers, as it was when a thread began; threads that began alike share it. */
export interface WidgetAgentRow {
  /** SHA-256 of `agent`, hexadecimal. */
  hash: string;
  agent: Json;
}

export interface WidgetMessageRow {
  thread_id: string;
  /** From 1 within the thread, without gaps. */
  number: number;
  id: string;
  sender_type: 'USER' | 'ASSISTANT';
  content: string;
  original_content: string | null;
  created_at: IsoTime;
}

/** The right of a page's visitor to one thread. */
export interface WidgetSessionRow {
  /** SHA-256 of the token, hexadecimal. */
  token_hash: string;
  widget_id: string;
  thread_id: string;
  expires_at: IsoTime;
}

/** A test case of a pathway or a persona (contract 6.1). */
export interface TestScenarioRow {
  id: string;
  org_id: string;
  /** Exactly one of the two is set. */
  pathway_id: string | null;
  persona_id: string | null;
  name: string;
  description: string | null;
  category: string;
  scenario_type: 'AGENT' | 'REPLAY' | 'HISTORICAL';
  tester_persona_prompt: string | null;
  tester_persona_name: string | null;
  max_turns: number;
  request_data: Json | null;
  start_node_id: string | null;
  service_tone_enabled: Flag;
  is_required_for_promotion: Flag;
  enabled: Flag;
  input_messages: Json | null;
  advanced_instructions: string | null;
  metadata: Json | null;
  created_at: IsoTime;
  updated_at: IsoTime;
  /** Its runs stay readable. */
  deleted_at: IsoTime | null;
}

export interface TestAssertionRow {
  id: string;
  scenario_id: string;
  type: string;
  name: string | null;
  config: Json;
  is_required: Flag;
  weight: number;
  /** `order` of the contract. */
  position: number;
  /** Index in the array that it came in; decides between equal positions. */
  place: number;
}

/** One run of a scenario: what lists, queues and statistics read. */
export interface TestRunRow {
  id: string;
  org_id: string;
  scenario_id: string;
  pathway_id: string | null;
  persona_id: string | null;
  batch_id: string | null;
  simulation_set_id: string | null;
  tornado_session_id: string | null;
  status: 'PENDING' | 'RUNNING' | 'PASSED' | 'FAILED' | 'ERROR' | 'CANCELLED';
  trigger_source: string;
  version_number: number;
  /** Of exactly what was tested. */
  content_hash: string;
  seed: number;
  transport: 'text' | 'sip';
  phone_number: string | null;
  request_data_override: Json | null;
  webhook_url: string | null;
  /** Who runs it, and until when nobody else may take it over. */
  worker: string | null;
  lease_until: IsoTime | null;
  attempts: number;
  cancel_requested_at: IsoTime | null;
  created_at: IsoTime;
  started_at: IsoTime | null;
  completed_at: IsoTime | null;
  turn_count: number;
  duration_ms: number | null;
  overall_score: number | null;
  /** Of the first visits of its nodes (TestPathRow); empty: none. */
  path_id: string;
  /** The node that a failure counts at (contract 6.10); empty: none. */
  failed_node_id: string;
}

/** What only a single run shows. */
export interface TestRunRecordRow {
  run_id: string;
  /** Scenario of shared/api/agent-testing/scenarios.ts, as it was when the run was made. */
  scenario: Json;
  /** JSON of the members of ConversationRecord (control/agent-testing/ports.ts). */
  chat_history: Json;
  variables_extracted: Json;
  /** JSON array, or `null` of a persona. */
  nodes_visited: Json;
  current_node_id: string | null;
  webhook_calls: Json;
  tool_calls: Json;
  log: Json;
  ending: Json | null;
  service_tone_score: Json | null;
  reasoning: string | null;
  evaluator: Json;
  error_message: string | null;
  voice: Json | null;
  /** Analysis of shared/api/agent-testing/runs.ts once it was asked for. */
  analysis: Json | null;
  /** From where an interrupted run goes on; null: from the start. */
  checkpoint: Json | null;
}

export interface TestAssertionResultRow {
  run_id: string;
  /** In the order of the assertions. */
  place: number;
  assertion_id: string;
  type: string;
  name: string | null;
  status: 'PASSED' | 'FAILED' | 'INCONCLUSIVE' | 'ERROR';
  passed: Flag;
  score: number;
  weight: number;
  is_required: Flag;
  reasoning: string;
  evidence: Json;
  target: string | null;
  expected: string | null;
}

/** A way through a pathway that runs have taken. */
export interface TestPathRow {
  pathway_id: string;
  /** Hash of `nodes`. */
  id: string;
  /** JSON array of node ids, each once, in the order of their first visit. */
  nodes: Json;
}

/** What the ended runs of a pathway came to, by the UTC day of their creation. */
export interface TestRunDayRow {
  pathway_id: string;
  /** `2030-01-31` */
  day: string;
  status: TestRunRow['status'];
  runs: number;
  /** Those with a score, and the sum of these. */
  scored: number;
  score_sum: number;
}

/** The same for runs that ended alike, by day and once more by month. */
export interface TestRunPeriodRow extends Omit<TestRunDayRow, 'day'> {
  /** `2030-01-31` or `2030-01` */
  period: string;
  scenario_id: string;
  path_id: string;
  failed_node_id: string;
}

export interface TestBatchRow {
  id: string;
  org_id: string;
  /** Null: its scenarios belong to several. */
  pathway_id: string | null;
  persona_id: string | null;
  status: TestRunRow['status'];
  trigger_source: string;
  version_number: number | null;
  /** What a promotion waits for (contract 6.11). */
  content_hash: string | null;
  total_scenarios: number;
  publish_on_pass: Flag;
  published: Flag;
  webhook_url: string | null;
  created_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestSimulationSetRow {
  id: string;
  org_id: string;
  pathway_id: string | null;
  persona_id: string | null;
  status: TestRunRow['status'];
  /** JSON array of ids. */
  scenario_ids: Json;
  simulations_per_scenario: number;
  pass_threshold: number;
  version_number: number | null;
  webhook_url: string | null;
  created_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestTornadoSessionRow {
  id: string;
  org_id: string;
  pathway_id: string;
  persona_id: string | null;
  status: string;
  /** JSON arrays of ids. */
  scenario_ids: Json;
  unfixable_ids: Json;
  base_version: number;
  forked_version: number | null;
  current_iteration: number;
  max_iterations: number;
  timeout_ms: number;
  seed: number;
  passed_scenarios: number;
  failed_scenarios: number;
  webhook_url: string | null;
  error_message: string | null;
  /** From where an interrupted session goes on. */
  state: Json | null;
  worker: string | null;
  lease_until: IsoTime | null;
  cancel_requested_at: IsoTime | null;
  created_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestTornadoIterationRow {
  session_id: string;
  /** from 1 */
  iteration: number;
  batch_id: string;
  version_number: number;
  started_at: IsoTime;
  completed_at: IsoTime | null;
  passed_ids: Json;
  failed_ids: Json;
  newly_unfixable_ids: Json;
  avg_score: number | null;
  /** FixPlan of shared/api/agent-testing/tornado.ts */
  fix_plan: Json | null;
  prompt_excerpt: string | null;
  /** What the plan altered, for a person. */
  diff: Json | null;
}

export interface Tables {
  organizations: OrganizationRow;
  api_keys: ApiKeyRow;
  edge_tokens: EdgeTokenRow;
  numbers: NumberRow;
  sip_configurations: SipConfigurationRow;
  pathways: PathwayRow;
  pathway_versions: PathwayVersionRow;
  personas: PersonaRow;
  persona_versions: PersonaVersionRow;
  pending_promotions: PendingPromotionRow;
  chats: ChatRow;
  pathway_references: PathwayReferenceRow;
  edge_config_items: EdgeConfigItemRow;
  counters: CounterRow;
  edges: EdgeRow;
  outboxes: OutboxRow;
  calls: CallRow;
  trunk_endpoints: TrunkEndpointRow;
  trunk_hours: TrunkHourRow;
  registrations: RegistrationRow;
  discoveries: DiscoveryRow;
  test_calls: TestCallRow;
  webhook_deliveries: WebhookDeliveryRow;
  trunk_probe_runs: TrunkProbeRunRow;
  alerts: AlertRow;
  alert_notices: AlertNoticeRow;
  trace_parts: TracePartRow;
  transcript_parts: TranscriptPartRow;
  rejected_reports: RejectedReportRow;
  idempotent_answers: IdempotentAnswerRow;
  idempotent_work: IdempotentWorkRow;
  widgets: WidgetRow;
  widget_threads: WidgetThreadRow;
  widget_agents: WidgetAgentRow;
  widget_messages: WidgetMessageRow;
  widget_sessions: WidgetSessionRow;
  port_requests: PortRequestRow;
  port_numbers: PortNumberRow;
  port_history: PortHistoryRow;
  port_documents: PortDocumentRow;
  port_request_documents: PortRequestDocumentRow;
  port_letters: PortLetterRow;
  port_mails: PortMailRow;
  port_orders: PortOrderRow;
  audit_entries: AuditEntryRow;
  tools: ToolRow;
  integration_resources: IntegrationResourceRow;
  tool_runs: ToolRunRow;
  test_scenarios: TestScenarioRow;
  test_assertions: TestAssertionRow;
  test_runs: TestRunRow;
  test_run_records: TestRunRecordRow;
  test_assertion_results: TestAssertionResultRow;
  test_paths: TestPathRow;
  test_run_days: TestRunDayRow;
  test_run_periods: TestRunPeriodRow;
  test_batches: TestBatchRow;
  test_simulation_sets: TestSimulationSetRow;
  test_tornado_sessions: TestTornadoSessionRow;
  test_tornado_iterations: TestTornadoIterationRow;
}

/** A database or a running transaction of it. */
export type Db = Kysely<Tables>;
