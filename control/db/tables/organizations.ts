/** Who uses the control plane, with which keys, and what they changed. */
import type { KeyRole } from '#shared/api/keys.ts';
import type { ModelPrices } from '#shared/api/model-prices.ts';
import type { RealtimeConnection } from '#shared/edge-protocol/agents.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import type { RecordingChoice } from '#shared/edge-protocol/recordings.ts';
import type { Pronunciation } from '#shared/pronunciation-entry.ts';
import type { Json } from '../json.ts';
import type { Flag, IsoTime } from './columns.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  region: string;
  sip_enabled: Flag;
  /** Sealed (db/secrets.ts); 32 bytes in hexadecimal. */
  signing_secret: string;
  created_at: IsoTime;
  /** JSON array of addresses. */
  alert_emails: Json<string[]>;
  /** JSON array of E.164 numbers. */
  alert_sms_numbers: Json<string[]>;
  /** Default URL of events. */
  event_webhook_url: string | null;
  /** CallLimits of shared/edge-protocol/numbers.ts; null: none of its own. */
  call_limits: Json<CallLimits> | null;
  /** CallCeiling of organizations/call-limit-rules.ts; null: the deployment's. */
  call_ceiling: Json | null;
  /** RecordingChoice of shared/edge-protocol/recordings.ts; null: no call is recorded. */
  recording: Json<RecordingChoice> | null;
  /** RealtimeConnection of shared/edge-protocol/agents.ts, with sealed keys (db/secrets.ts); null: none. */
  realtime: Json<RealtimeConnection[]> | null;
  /** Pronunciation of shared/pronunciation-entry.ts; null: none. */
  pronunciations: Json<Pronunciation[]> | null;
  /** Words that callers are likely to say; null: none. */
  key_terms: Json<string[]> | null;
  /** What it pays for language models; null: not known. */
  model_prices: Json<ModelPrices> | null;
  /** Whether a tone tells the parties of a call that a supervisor has joined it. */
  supervision_tone: Flag;
  /** Whether its numbers may list networks that are wide by `isWide` of shared/networks.ts. */
  wide_sources: Flag;
  /** Set: its keys are rejected and its numbers are not answered. */
  disabled_at: IsoTime | null;
}

export interface ApiKeyRow {
  id: string;
  kind: 'customer' | 'operator';
  /** Null for operator keys. */
  org_id: string | null;
  name: string;
  /** First characters of the key, for display in lists. */
  prefix: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  /** What it may do in its organization; without meaning for operator keys. */
  role: KeyRole;
  created_at: IsoTime;
  revoked_at: IsoTime | null;
  /** When it stops working, because it was rotated; null: it does not. */
  expires_at: IsoTime | null;
  /** To the minute; null: never. */
  last_used_at: IsoTime | null;
}

/** A browser that signed in with a key. It may do what the key may, as long as the key works. */
export interface SessionRow {
  id: string;
  /** SHA-256 of the cookie's value, hexadecimal. */
  hash: string;
  key_id: string;
  /** Of the key; null: an operator's. */
  org_id: string | null;
  created_at: IsoTime;
  /** To the minute. */
  last_used_at: IsoTime;
  /** Whatever its use. */
  expires_at: IsoTime;
  /** Signed out or revoked. The row stays until it is swept, so that its cookie is no wrong key. */
  ended_at: IsoTime | null;
  address: string;
  user_agent: string | null;
}

export interface EdgeTokenRow {
  id: string;
  name: string;
  prefix: string;
  hash: string;
  created_at: IsoTime;
  revoked_at: IsoTime | null;
  /** To the minute; null: never. */
  last_used_at: IsoTime | null;
}

export interface IdempotentAnswerRow {
  /** The organization, or `operator:` and the id of an operator's key. */
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

/** Started, unanswered work under an Idempotency-Key. */
export interface IdempotentWorkRow {
  /** As in IdempotentAnswerRow. */
  org_id: string;
  path: string;
  key: string;
  /** SHA-256 of the request body. */
  body_hash: string;
  /** The id of the row that the work creates. */
  work_id: string;
  /** The program start that began it. */
  instance: string;
  created_at: IsoTime;
}

/** One change (control/audit). */
export interface AuditEntryRow {
  id: string;
  /** Null: the deployment, for example an operator key. */
  org_id: string | null;
  at: IsoTime;
  actor_kind: 'api_key' | 'operator' | 'command_line' | 'system';
  /** First characters of the key; null without a key. */
  actor: string | null;
  request_id: string | null;
  /** For example `sip` or `keys`. */
  area: string;
  subject_id: string;
  /** For example `update`. */
  action: string;
  /** JSON array of names, without values. */
  changed_fields: Json<string[]>;
}

export interface OrganizationsTables {
  organizations: OrganizationRow;
  api_keys: ApiKeyRow;
  sessions: SessionRow;
  edge_tokens: EdgeTokenRow;
  idempotent_answers: IdempotentAnswerRow;
  idempotent_work: IdempotentWorkRow;
  audit_entries: AuditEntryRow;
}
