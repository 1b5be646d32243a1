/** The events of conferences (contract 13): queued with the report that tells of them, to the organization's URL. */
import type { CallRecord, ConferenceEvent } from '#shared/edge-protocol/calls.ts';
import { builtOnce, type Db, isAmong } from '../db/index.ts';
import { eventBody, waitingDelivery } from '../webhooks/index.ts';
import { insertDeliveries } from './completed-event.ts';

/** What a call did, and whose call it is. */
export interface ReportedEvent {
  readonly event: ConferenceEvent;
  readonly call: Pick<CallRecord, 'id' | 'org_id' | 'direction' | 'from' | 'to'>;
}

const findUrls = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('organizations')
    .select(['id', 'event_webhook_url'])
    .where(isAmong(db, 'id', ids)),
);

/** @returns whether any delivery was queued */
export async function queueConferenceEvents(
  db: Db,
  reported: readonly ReportedEvent[],
  now: string,
): Promise<boolean> {
  if (reported.length === 0) return false;
  const ids = [...new Set(reported.map(({ call }) => call.org_id))];
  const urls = new Map((await findUrls(db, ids)).map((row) => [row.id, row.event_webhook_url]));
  const deliveries = reported.flatMap(({ event, call }) => {
    const { id: callId, org_id: orgId, direction, from, to } = call;
    const url = urls.get(orgId);
    if (!url) return [];
    const id = `evt_${event.id}`;
    const type = `conference.${event.what}` as const;
    const { conference_id, name, at } = event;
    const data = { conference_id, name, call_id: callId, direction, from, to, at };
    const body = eventBody({ id, type, orgId, now, data });
    return [{ ...waitingDelivery({ id, orgId, type, subjectId: callId, url, now }), body }];
  });
  return deliveries.length > 0 && (await insertDeliveries(db, deliveries)) > 0;
}
