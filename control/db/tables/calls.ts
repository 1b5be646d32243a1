/** Calls, their traces and transcripts, and their events. */
import type { Generated } from 'kysely';
import type { Answerer } from '#shared/answerer.ts';
import type {
  CallRecord,
  ConferenceState,
  TraceMessage,
  TranscriptEntry,
} from '#shared/edge-protocol/calls.ts';
import type { RefusalReason } from '#shared/refusals.ts';
import type { Json } from '../json.ts';
import type { Flag, IsoTime, OpenObject } from './columns.ts';

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
  media: Json<CallRecord['media']> | null;
  agent_kind: string | null;
  pathway_id: string | null;
  pathway_version: number | null;
  persona_id: string | null;
  max_duration: number | null;
  request_data: Json<OpenObject>;
  variables: Json<OpenObject>;
  /** JSON array of failed attempts (contract 3.4); null on inbound calls. */
  failover_attempts: Json<NonNullable<CallRecord['failover_attempts']>> | null;
  /** Stored for the customer, not used. */
  metadata: Json<OpenObject>;
  /** Where the call's record is sent after its end; null: the number's URL. */
  webhook: string | null;
  /** As given in the request. */
  transferred_to: string | null;
  answered_by: Answerer | null;
  /** The test run whose call it is, either end of it. */
  test_run_id: string | null;
  /** The conference that the call is in; null: none. A call that has ended may still name it. */
  conference_id: string | null;
  conference: Json<ConferenceState> | null;
  /** When `ended_at` was stored, which may be long after it; null: not yet, or by an earlier version. */
  end_stored_at: IsoTime | null;
}

/** Messages of a call's SIP trace from one report. */
export interface TracePartRow {
  id: Generated<number>;
  call_id: string;
  messages: Json<TraceMessage[]>;
  message_count: number;
  truncated: Flag;
  received_at: IsoTime;
}

/** Lines of a call's transcript from one report. */
export interface TranscriptPartRow {
  id: Generated<number>;
  call_id: string;
  entries: Json<TranscriptEntry[]>;
  received_at: IsoTime;
}

/**
 * A part of a call's quality series, or of the turns of its conversation: JSON arrays, each with a comma behind it
 * (shared/edge-protocol/measured.ts).
 */
export interface MeasuredPartRow {
  call_id: string;
  part: number;
  content: string;
  received_at: IsoTime;
}

/** Ended calls of an hour or a day, by trunk, direction and MOS. */
export interface CallSumRow {
  org_id: string;
  unit: 'hour' | 'day';
  /** Of `started_at`: `2030-01-01T05` or `2030-01-01`, UTC */
  period: string;
  /** Empty: none. */
  trunk_id: string;
  direction: CallRow['direction'];
  /** Hundredths; 0: not measured. */
  mos: number;
  calls: number;
  answered: number;
  /** Of the answered ones, from the answer to the end. */
  talk_ms: number;
}

/** While calls of earlier versions are not counted in `call_sums`: those with an id below `before_id`. */
export interface UncountedCallsRow {
  id: 1;
  before_id: string;
  begins_at: IsoTime;
}

/** INVITEs that edges have refused, of one source, reason and number. */
export interface RefusedInvitesRow {
  id: string;
  /** Empty: the number was configured nowhere. */
  org_id: string;
  /** Empty: further sources, which were too many. */
  source: string;
  reason: RefusalReason;
  /** Empty without organization, and for further sources. */
  number: string;
  /** The last edge. */
  edge_id: string;
  attempts: number;
  unanswered: number;
  first_at: IsoTime;
  last_at: IsoTime;
  /** Of the last one, as are those that follow. */
  sip_status: number;
  detail: string | null;
  caller: string | null;
  dialled: string | null;
  user_agent: string | null;
  sip_call_id: string | null;
}

/** An event to be delivered to a customer. */
export interface WebhookDeliveryRow {
  /** `evt_<uuid>` */
  id: string;
  org_id: string;
  type: string;
  url: string;
  /** The event's subject, such as a call. */
  subject_id: string;
  /** Null until the first attempt, which builds it. */
  body: string | null;
  created_at: IsoTime;
  first_attempt_at: IsoTime | null;
  attempts: number;
  /** Null: delivered, or given up. */
  next_attempt_at: IsoTime | null;
  delivered_at: IsoTime | null;
  last_status: number | null;
  last_error: string | null;
}

export interface CallsTables {
  calls: CallRow;
  trace_parts: TracePartRow;
  transcript_parts: TranscriptPartRow;
  quality_parts: MeasuredPartRow;
  turn_parts: MeasuredPartRow;
  refused_invites: RefusedInvitesRow;
  call_sums: CallSumRow;
  uncounted_calls: UncountedCallsRow;
  webhook_deliveries: WebhookDeliveryRow;
}
