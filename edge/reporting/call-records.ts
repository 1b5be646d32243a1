/** Records of calls in the outbox. */
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';
import type { HeldReport } from './held-reports.ts';
import { callBody } from './journal/entry.ts';

/** The last record of a call whose process died. */
export function abandoned(call: CallRecord, lastSeen: string): CallRecord {
  const begun = call.answered_at ?? call.started_at;
  const { conference, conference_event: _, ...rest } = call;
  const endedAt = lastSeen > begun ? lastSeen : begun;
  return {
    ...rest,
    ...(conference && {
      conference: null,
      conference_event: {
        id: newId(),
        what: 'left',
        at: endedAt,
        conference_id: conference.id,
        name: conference.name,
      },
    }),
    status: call.answered_at === null ? 'failed' : 'completed',
    sip_code: call.answered_at === null ? call.sip_code : 200,
    sip_reason: call.answered_at === null ? call.sip_reason : 'OK',
    ended_at: endedAt,
    termination: 'edge_restarted',
    termination_detail: 'the edge process died while the call was up; the end time is its last heartbeat',
    hangup_by: 'error',
  };
}

/** A report as the outbox keeps it. */
export function reportOf(at: string, body: ReportBody): HeldReport {
  if (body.type !== 'call') return { at, body: JSON.stringify(body), call: null };
  const { call } = body;
  const record = JSON.stringify(call);
  return { at, body: callBody(record), call: { id: call.id, ended: call.ended_at !== null, record } };
}
