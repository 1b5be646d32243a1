/** Stores calls, transcripts and SIP traces from the edges' reports. */
import type SqliteFile from 'better-sqlite3';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { CallRow } from '../db/index.ts';
import type { Told } from '../edge-link/index.ts';
import { webhookSubject } from '../webhooks/index.ts';
import { prepareCallCompleted } from './completed-event.ts';
import { prepareIsUnwanted } from './lost-store.ts';
import { callRow } from './rules.ts';

type Body<T extends ReportBody['type']> = Extract<ReportBody, { type: T }>;

/** Columns of `calls` that a later report of the same call does not change. */
const insertOnly: ReadonlySet<string> = new Set([
  'id',
  'org_id',
  'parent_id',
  'started_at',
  'metadata',
  'webhook',
]);

export interface CallReports {
  call(body: Body<'call'>, edgeId: string, now: string, told: Told): void;
  transcript(body: Body<'transcript'>, now: string): void;
  trace(body: Body<'trace'>, now: string): void;
}

export function prepareCallReports(connection: SqliteFile.Database): CallReports {
  const columns = Object.keys(callColumns);
  const updates = columns
    .filter((column) => !insertOnly.has(column))
    .map((column) => `${column} = excluded.${column}`);
  const store = connection.prepare<[CallRow]>(
    `insert into calls (${columns.join(', ')}) values (${columns.map((column) => `@${column}`).join(', ')})
     on conflict (id) do update set ${updates.join(', ')} where calls.org_id = excluded.org_id`,
  );
  const transcript = connection.prepare<[string, string, string]>(
    'insert into transcript_parts (call_id, entries, received_at) values (?, ?, ?)',
  );
  const trace = connection.prepare<[string, string, number, number, string]>(
    `insert into trace_parts (call_id, messages, message_count, truncated, received_at)
     values (?, ?, ?, ?, ?)`,
  );
  const completed = prepareCallCompleted(connection);
  const isUnwanted = prepareIsUnwanted(connection);
  return {
    call: ({ call }, edgeId, now, { announced, unwanted }) => {
      if (call.ended_at === null && isUnwanted(call.id)) {
        unwanted.add(call.id);
        return;
      }
      const row = callRow(call, edgeId);
      if (completed(row, now)) announced.add(webhookSubject);
      store.run(row);
    },
    transcript: ({ call_id, entries }, now) => {
      transcript.run(call_id, JSON.stringify(entries), now);
    },
    trace: ({ call_id, messages, truncated }, now) => {
      trace.run(call_id, JSON.stringify(messages), messages.length, truncated ? 1 : 0, now);
    },
  };
}

/** Every column of `calls`; the type forces a new one to be listed. */
const callColumns: Readonly<Record<keyof CallRow, true>> = {
  id: true,
  org_id: true,
  edge_id: true,
  sip_call_id: true,
  parent_id: true,
  direction: true,
  from_number: true,
  to_number: true,
  number: true,
  trunk_id: true,
  source_ip: true,
  started_at: true,
  answered_at: true,
  ended_at: true,
  status: true,
  outcome: true,
  sip_code: true,
  sip_reason: true,
  termination: true,
  termination_detail: true,
  hangup_by: true,
  codec: true,
  media: true,
  agent_kind: true,
  pathway_id: true,
  pathway_version: true,
  persona_id: true,
  max_duration: true,
  request_data: true,
  variables: true,
  failover_attempts: true,
  metadata: true,
  webhook: true,
  transferred_to: true,
  answered_by: true,
  test_run_id: true,
};
