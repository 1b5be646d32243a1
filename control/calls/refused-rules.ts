/** Refused INVITEs as rows and as entries of their list: pure functions (contract 3.4). */
import type { RefusedEntry } from '#shared/api/refused.ts';
import type { RefusedInvites } from '#shared/edge-protocol/refused.ts';
import { refusals } from '#shared/refusals.ts';
import type { RefusedInvitesRow } from '../db/index.ts';
import { cursorAt, readCursor } from '../http/index.ts';

export function refusedRow(refused: RefusedInvites, edgeId: string, id: string): RefusedInvitesRow {
  return {
    id,
    org_id: refused.org_id ?? '',
    source: refused.source ?? '',
    reason: refused.reason,
    number: refused.number ?? '',
    edge_id: edgeId,
    attempts: refused.attempts,
    unanswered: refused.unanswered,
    first_at: new Date(refused.first_at).toISOString(),
    last_at: new Date(refused.last_at).toISOString(),
    sip_status: refused.sip_status,
    detail: refused.detail,
    caller: refused.from,
    dialled: refused.dialled,
    user_agent: refused.user_agent,
    sip_call_id: refused.sip_call_id,
  };
}

/** What is the same in all entries of one source, reason and number. */
export function refusedKey({ org_id, source, reason, number }: RefusedInvitesRow): string {
  return JSON.stringify([org_id, source, reason, number]);
}

/** Two counts of the same source, reason and number. */
export function addRefused(one: RefusedInvitesRow, other: RefusedInvitesRow): RefusedInvitesRow {
  return {
    ...(other.last_at >= one.last_at ? other : one),
    id: one.id,
    attempts: one.attempts + other.attempts,
    unanswered: one.unanswered + other.unanswered,
    first_at: one.first_at < other.first_at ? one.first_at : other.first_at,
  };
}

export function refusedEntry(row: RefusedInvitesRow): RefusedEntry {
  const { summary, advice } = refusals[row.reason];
  return {
    id: row.id,
    org_id: row.org_id || null,
    source: row.source || null,
    phone_number: row.number || null,
    reason: row.reason,
    summary,
    advice: advice
      .replaceAll('SOURCE', row.source || 'the addresses')
      .replaceAll('NUMBER', row.number || 'the number'),
    attempts: row.attempts,
    unanswered: row.unanswered,
    first_at: row.first_at,
    last_at: row.last_at,
    sip_status: row.sip_status,
    detail: row.detail,
    from: row.caller,
    dialed: row.dialled,
    user_agent: row.user_agent,
    call_id: row.sip_call_id,
    edge_id: row.edge_id,
    cursor: cursorAt(row.last_at, row.id),
  };
}

/** The end of the page before; null: the cursor is none. */
export function cursorOf(text: string): Pick<RefusedInvitesRow, 'last_at' | 'id'> | null {
  const found = readCursor(text);
  return found && { last_at: found.at, id: found.id };
}
