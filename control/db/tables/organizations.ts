/** Who uses the control plane, with which keys, and what they changed. */
import type { Flag, IsoTime, Json } from './columns.ts';

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
  /** CallLimits of shared/edge-protocol/numbers.ts; null: none of its own. */
  call_limits: Json | null;
  /** CallCeiling of organizations/call-limit-rules.ts; null: that of the deployment. */
  call_ceiling: Json | null;
  /** Whether its numbers may list networks wider than `isWide` of shared/networks.ts has it. */
  wide_sources: Flag;
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

/** Work under an Idempotency-Key that has begun and has not been answered. */
export interface IdempotentWorkRow {
  /** As in IdempotentAnswerRow. */
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

export interface OrganizationsTables {
  organizations: OrganizationRow;
  api_keys: ApiKeyRow;
  edge_tokens: EdgeTokenRow;
  idempotent_answers: IdempotentAnswerRow;
  idempotent_work: IdempotentWorkRow;
  audit_entries: AuditEntryRow;
}
