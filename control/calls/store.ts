/** Reads calls, their transcripts and traces. The edges' reports write them (edge-link/reports.ts). */
import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { TraceMessage, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { mostNamedUsers, type NamedVersion } from '../catalogue/index.ts';
import {
  builtOnce,
  type CallRow,
  type Db,
  deleteInBatches,
  dropPartitionsBefore,
  fromJson,
  undatedRows,
} from '../db/index.ts';

/** Most messages shown of a trace (contract 3.4). */
const mostTraceMessages = 500;
/**
 * Most characters of a trace's messages as JSON: half of the largest response (http/base.ts), because redaction may
 * lengthen them.
 */
const mostTraceChars = 8 * 1_048_576;

/**
 * Most octets of transcript JSON. A call shows the transcript three times (`concatenated_transcript`, `transcripts`,
 * `pathway_logs`), within the largest response (http/base.ts).
 */
const mostTranscriptOctets = 3 * 1_048_576;
const partsAtOnce = 50;

const selectCall = builtOnce((db, id: string, orgId: string) =>
  db.selectFrom('calls').selectAll().where('id', '=', id).where('org_id', '=', orgId),
);

export async function findCall(db: Db, orgId: string, id: string): Promise<CallRow | undefined> {
  const [call] = await selectCall(db, id, orgId);
  return call;
}

/** Those of the organization, by id. */
export async function findCallsOf(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CallRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('calls')
    .selectAll()
    .where('id', 'in', ids)
    .where('org_id', '=', orgId)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function insertCall(db: Db, row: CallRow): Promise<void> {
  await db.insertInto('calls').values(row).execute();
}

/** A call by its id, or the newest one of a SIP Call-ID. */
export async function findLoggedCall(db: Db, orgId: string, callId: string): Promise<CallRow | undefined> {
  const byId = await findCall(db, orgId, callId);
  if (byId) return byId;
  return db
    .selectFrom('calls')
    .selectAll()
    .where('sip_call_id', '=', callId)
    .where('org_id', '=', orgId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

const selectTranscript = builtOnce((db, callId: string, after: number) =>
  db
    .selectFrom('transcript_parts')
    .select(['id', 'entries'])
    .where('call_id', '=', callId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(partsAtOnce),
);

export interface StoredTranscript {
  readonly entries: readonly TranscriptEntry[];
  /** The end of the transcript is missing. */
  readonly isCut: boolean;
}

/**
 * A line that was reported again replaces the former one, because its end was not heard; without words it is withdrawn.
 * @param mostOctets of the entries' JSON
 */
export async function findTranscript(
  db: Db,
  callId: string,
  mostOctets = mostTranscriptOctets,
): Promise<StoredTranscript> {
  const byId = new Map<string, TranscriptEntry>();
  const entries = () => [...byId.values()].filter(({ text }) => text !== '');
  let room = mostOctets;
  for (let last = 0; ; await setImmediate()) {
    const parts = await selectTranscript(db, callId, last);
    for (const part of parts) {
      last = part.id;
      for (const entry of fromJson(part.entries)) {
        room -= Buffer.byteLength(JSON.stringify(entry));
        if (room < 0) return { entries: entries(), isCut: true };
        byId.set(entry.id, entry);
      }
    }
    if (parts.length < partsAtOnce) return { entries: entries(), isCut: false };
  }
}

/** What was stored of a call's transcript after a part, as it came: lines may come again. */
export async function findTranscriptParts(db: Db, callId: string, after: number) {
  const parts = await selectTranscript(db, callId, after);
  return parts.map(({ id, entries }) => ({ id, entries: fromJson(entries) }));
}

/** The stored part of a call's transcript that has this line. */
export async function findPartOfLine(db: Db, callId: string, lineId: string): Promise<number | undefined> {
  for (let last = 0; ; await setImmediate()) {
    const parts = await selectTranscript(db, callId, last);
    const found = parts.find(({ entries }) => fromJson(entries).some(({ id }) => id === lineId));
    if (found || parts.length < partsAtOnce) return found?.id;
    last = parts.at(-1)?.id ?? 0;
  }
}

export interface StoredTrace {
  readonly messages: readonly TraceMessage[];
  /** Some messages are missing. */
  readonly truncated: boolean;
}

/** The trace of a call; null when there is none or it was deleted. Parts are read one by one, up to the limits. */
export async function findTrace(db: Db, callId: string): Promise<StoredTrace | null> {
  const messages: TraceMessage[] = [];
  let truncated = false;
  let room = mostTraceChars;
  for (let last = 0; ; await setImmediate()) {
    const part = await db
      .selectFrom('trace_parts')
      .select(['id', 'messages', 'truncated'])
      .where('call_id', '=', callId)
      .where('id', '>', last)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (!part) return last === 0 ? null : { messages, truncated };
    last = part.id;
    truncated ||= part.truncated === 1;
    for (const message of fromJson(part.messages)) {
      room -= JSON.stringify(message).length;
      if (room < 0 || messages.length === mostTraceMessages) return { messages, truncated: true };
      messages.push(message);
    }
  }
}

/** What is deleted with its call. */
const ofCall = ['transcript_parts', 'quality_parts', 'turn_parts'] as const;

/**
 * Deletes call records, with their transcripts and what was measured, that began before `time`; on PostgreSQL whole months, once their last day is before
 * it. Returns how many calls were deleted.
 */
export async function deleteCallsBefore(db: Db, time: string): Promise<number> {
  for (const table of ofCall) await dropPartitionsBefore(db, table, time);
  const dropped = await dropPartitionsBefore(db, 'calls', time);
  const calls = sql.table(undatedRows(db, 'calls'));
  const old = (limit: number) =>
    sql`select id from ${calls} where started_at < ${time} order by started_at, id limit ${sql.lit(limit)}`;
  const deleted = await deleteInBatches((limit) =>
    db.transaction().execute(async (trx) => {
      for (const table of ofCall)
        await sql`delete from ${sql.table(table)} where call_id in (${old(limit)})`.execute(trx);
      return deletedBy(sql`delete from ${calls} where id in (${old(limit)})`, trx);
    }),
  );
  return dropped + deleted;
}

/**
 * Deletes traces that arrived before `time`; on PostgreSQL whole days. Returns how many parts were deleted.
 */
export async function deleteTracesBefore(db: Db, time: string): Promise<number> {
  const dropped = await dropPartitionsBefore(db, 'trace_parts', time);
  const parts = sql.table(undatedRows(db, 'trace_parts'));
  const deleted = await deleteInBatches((limit) =>
    deletedBy(
      sql`delete from ${parts}
        where id in (select id from ${parts} where received_at < ${time} limit ${sql.lit(limit)})`,
      db,
    ),
  );
  return dropped + deleted;
}

async function deletedBy(statement: RawBuilder<unknown>, db: Db): Promise<{ numDeletedRows: bigint }> {
  const { numAffectedRows = 0n } = await statement.execute(db);
  return { numDeletedRows: numAffectedRows };
}

/** Calls that a version of a pathway will answer: queued or ringing. One that was answered has its graph. */
export async function callsUsingVersion(
  db: Db,
  { orgId, pathwayId, version }: NamedVersion,
): Promise<string[]> {
  const rows = await db
    .selectFrom('calls')
    .select('id')
    // Calls in progress are found by the index over organization and outcome.
    .where('org_id', '=', orgId)
    .where('outcome', '=', 'in_progress')
    .where('answered_at', 'is', null)
    .where('pathway_id', '=', pathwayId)
    .where('pathway_version', '=', version)
    .limit(mostNamedUsers)
    .execute();
  return rows.map(({ id }) => id);
}
