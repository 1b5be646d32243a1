/** Stores calls, transcripts and SIP traces from the edges' reports. */
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import {
  builtOnce,
  type CallRow,
  type Db,
  excluded,
  type TracePartRow,
  type TranscriptPartRow,
  toJson,
} from '../db/index.ts';
import type { ReportEffects } from '../edge-link/index.ts';
import { webhookSubject } from '../webhooks/index.ts';
import { queueCallCompleted } from './completed-event.ts';
import { isUnwanted } from './lost-store.ts';
import { callRow } from './rules.ts';

type Body<T extends ReportBody['type']> = Extract<ReportBody, { type: T }>;

const saveCall = builtOnce((db, row: CallRow) => {
  // A later report of the same call leaves these as they are.
  const {
    id: _,
    org_id,
    parent_id: _parent,
    started_at: _start,
    metadata: _data,
    webhook: _url,
    ...changes
  } = row;
  return db
    .insertInto('calls')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(excluded(changes)).where('calls.org_id', '=', org_id),
    );
});

export async function storeCall(
  db: Db,
  { call }: Body<'call'>,
  edgeId: string,
  now: string,
  { announced, unwanted }: ReportEffects,
): Promise<void> {
  if (call.ended_at === null && (await isUnwanted(db, call.id))) {
    unwanted.add(call.id);
    return;
  }
  const row = callRow(call, edgeId);
  if (await queueCallCompleted(db, row, now)) announced.add(webhookSubject);
  await saveCall(db, row);
}

const insertTranscript = builtOnce((db, row: Omit<TranscriptPartRow, 'id'>) =>
  db.insertInto('transcript_parts').values(row),
);

export function storeTranscript(
  db: Db,
  { call_id, entries }: Body<'transcript'>,
  received_at: string,
): Promise<unknown> {
  return insertTranscript(db, { call_id, entries: toJson(entries), received_at });
}

const insertTrace = builtOnce((db, row: Omit<TracePartRow, 'id'>) =>
  db.insertInto('trace_parts').values(row),
);

export function storeTrace(
  db: Db,
  { call_id, messages, truncated }: Body<'trace'>,
  received_at: string,
): Promise<unknown> {
  return insertTrace(db, {
    call_id,
    messages: toJson(messages),
    message_count: messages.length,
    truncated: truncated ? 1 : 0,
    received_at,
  });
}
