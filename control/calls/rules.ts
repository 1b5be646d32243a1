/** Turns an edge's call record into rows and views: pure functions (contract 3.4 and 9.2). */

import type { CallView, ListedCall } from '#shared/api/calls.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { type CallRow, fromJson, toJson } from '../db/index.ts';
import type { ListedRow, LoggedCall } from './log-store.ts';
import { outcomeOf } from './outcome.ts';
import type { StoredTranscript } from './store.ts';

/** The row of a record, which is not stored yet. Keys are in the order of the table's columns. */
export function callRow(call: CallRecord, edgeId: string): CallRow {
  return {
    id: call.id,
    org_id: call.org_id,
    edge_id: edgeId,
    sip_call_id: call.sip_call_id,
    parent_id: call.parent_id ?? null,
    direction: call.direction,
    from_number: call.from,
    to_number: call.to,
    number: call.number,
    trunk_id: call.trunk_id,
    source_ip: call.source_ip,
    started_at: isoMilliseconds(call.started_at),
    answered_at: call.answered_at && isoMilliseconds(call.answered_at),
    ended_at: call.ended_at && isoMilliseconds(call.ended_at),
    status: call.status,
    outcome: outcomeOf(call),
    sip_code: call.sip_code,
    sip_reason: call.sip_reason,
    termination: call.termination,
    termination_detail: call.termination_detail,
    hangup_by: call.hangup_by,
    codec: call.codec,
    media: call.media && toJson(call.media),
    agent_kind: call.agent_kind,
    pathway_id: call.pathway_id,
    pathway_version: call.pathway_version,
    persona_id: call.persona_id ?? null,
    max_duration: call.max_duration,
    request_data: toJson(call.request_data),
    variables: toJson(call.variables),
    failover_attempts: call.failover_attempts ? toJson(call.failover_attempts) : null,
    metadata: toJson(call.metadata ?? {}),
    webhook: null,
    transferred_to: call.transferred_to ?? null,
    answered_by: call.answered_by ?? null,
    test_run_id: call.test_run_id ?? null,
    conference_id: call.conference?.id ?? null,
    conference: call.conference ? toJson(call.conference) : null,
    end_stored_at: null,
  };
}

/** Times are compared as text, so all must have milliseconds and `Z`. @throws RangeError for an invalid time */
function isoMilliseconds(time: string): string {
  return time.length === 24 && time.endsWith('Z') ? time : new Date(time).toISOString();
}

/** One line of the call log (contract 3.4). */
export function callLogEntry(row: LoggedCall): CallLogEntry {
  const ended = row.ended_at !== null;
  return {
    id: row.id,
    call_id: sipCallId(row),
    parent_id: row.parent_id,
    direction: row.direction,
    from: row.from_number,
    to: row.to_number,
    status: ended ? statusText(row) : 'in progress',
    sip_code: ended ? row.sip_code : null,
    outcome: row.outcome,
    duration_seconds: secondsBetween(row.answered_at, row.ended_at),
    started_at: row.started_at,
    answered_at: row.answered_at,
    ended_at: row.ended_at,
    source_ip: row.source_ip,
    edge_id: row.edge_id,
    trunk_id: row.trunk_id,
    codec: row.codec,
    hangup_by: ended ? row.hangup_by : null,
    termination: row.termination,
    termination_detail: row.termination_detail,
    failover_attempts: row.failover_attempts === null ? [] : fromJson(row.failover_attempts),
    media: row.media === null ? null : fromJson(row.media),
  };
}

/** Null until the edge has reported the call. */
function sipCallId(row: Pick<CallRow, 'sip_call_id'>): string | null {
  return row.sip_call_id === '' ? null : row.sip_call_id;
}

function statusText(row: LoggedCall): string {
  if (row.sip_code !== null) return `${row.sip_code} ${row.sip_reason ?? ''}`.trimEnd();
  return row.sip_reason ?? row.outcome.replace('_', ' ');
}

/** Seconds with at most 3 decimals; 0 while either end is open (contract 1.5). */
function secondsBetween(from: string | null, to: string | null): number {
  if (from === null || to === null) return 0;
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1000;
}

const endedBy: Readonly<Record<string, CallView['call_ended_by']>> = {
  agent: 'ASSISTANT',
  transfer: 'ASSISTANT',
  peer: 'USER',
  api: 'API',
  timeout: 'ERROR',
  error: 'ERROR',
};

/** A call of the list (contract 9.12). `now` (ms) gives the duration of a running call. */
export function listedCall(row: ListedRow, now: number): ListedCall {
  const seconds = secondsBetween(row.answered_at, row.ended_at ?? new Date(now).toISOString());
  return {
    call_id: row.id,
    parent_id: row.parent_id,
    to: row.to_number,
    from: row.from_number,
    direction: row.direction,
    status: row.status,
    completed: row.ended_at !== null,
    started_at: row.started_at,
    answered_at: row.answered_at,
    end_at: row.ended_at,
    call_length: Math.round((seconds / 60) * 100) / 100,
    corrected_duration: Math.round(seconds),
    answered_by: row.answered_by,
    call_ended_by: row.ended_at === null ? null : (endedBy[row.hangup_by ?? ''] ?? null),
    termination: row.termination,
    error_message: errorMessage(row),
    pathway_id: row.pathway_id,
    pathway_version: row.pathway_version,
    persona_id: row.persona_id,
    transferred_to: row.transferred_to,
    sip_call_id: sipCallId(row),
    trunk_id: row.trunk_id,
  };
}

/** The call record of contract 9.2. `now` (ms) gives the duration of a running call. */
export function callView(
  row: CallRow,
  { entries: transcript, isCut }: StoredTranscript,
  now: number,
): CallView {
  return {
    ...listedCall(row, now),
    c_id: row.id,
    batch_id: null,
    inbound: row.direction === 'inbound',
    queue_status: row.status,
    created_at: row.started_at,
    max_duration: row.max_duration,
    request_data: fromJson(row.request_data),
    metadata: fromJson(row.metadata),
    variables: fromJson(row.variables),
    concatenated_transcript: transcript.map((entry) => `${entry.user}: ${entry.text}`).join('\n'),
    transcripts: transcript.map(({ id, at, text, user, confidence = null, language = null }) => ({
      id,
      created_at: at,
      text,
      user,
      confidence,
      language,
    })),
    pathway_logs: transcript.map(({ user, text, node_id, node_name, at }) => ({
      role: user,
      text,
      node_id,
      node_name,
      created_at: at,
    })),
    ...(isCut && { omitted: ['transcripts'] }),
  };
}

/** Why a call failed; null when it did not, or is still running. */
function errorMessage(row: ListedRow): string | null {
  const failed = row.outcome === 'failed' || row.hangup_by === 'error';
  if (row.ended_at === null || !failed) return null;
  const summary = isTermination(row.termination) ? terminations[row.termination].summary : 'The call failed.';
  return row.termination_detail === null ? summary : `${summary} ${row.termination_detail}`;
}

function isTermination(code: string | null): code is TerminationCode {
  return code !== null && Object.hasOwn(terminations, code);
}
