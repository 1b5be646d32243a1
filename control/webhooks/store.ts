/** Events to be delivered to customers, as stored. */
import type { WebhookData, WebhookEventType } from '#shared/api/webhook-events.ts';
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import type { Db, WebhookDeliveryRow } from '../db/index.ts';
import { eventBody } from './rules.ts';

/** Announced when a delivery was stored (edge-link/announcements.ts). */
export const webhookSubject = 'webhooks';

export const allDeliveries = (db: Db) => db.selectFrom('webhook_deliveries').selectAll();

export interface NewEvent<T extends WebhookEventType> {
  readonly orgId: string;
  readonly type: T;
  /** From the row or request; null: the organization's `event_webhook_url`. */
  readonly url: string | null;
  /** The event's subject, such as an alert. */
  readonly subjectId: string;
  readonly data: WebhookData<T>;
}

/**
 * Queues an event in the transaction `db` of its cause. Announce `webhookSubject` after the commit. Returns its id;
 * null when there is no URL to send it to.
 */
export async function queueEvent<T extends WebhookEventType>(
  db: Db,
  clock: Pick<Clock, 'now'>,
  event: NewEvent<T>,
): Promise<string | null> {
  const { orgId, type, subjectId } = event;
  const url = event.url ?? (await eventUrl(db, orgId));
  if (!url) return null;
  const now = new Date(clock.now()).toISOString();
  const id = `evt_${newId()}`;
  // Without the type argument tsc searches for one among all events, a seventh of all that it works out.
  const body = eventBody<T>({ id, type, orgId, now, data: event.data });
  const row = { ...waitingDelivery({ id, orgId, type, url, subjectId, now }), body };
  await db.insertInto('webhook_deliveries').values(row).execute();
  return id;
}

/** The default URL of an organization's events. */
async function eventUrl(db: Db, orgId: string): Promise<string | null> {
  const row = await db
    .selectFrom('organizations')
    .select('event_webhook_url')
    .where('id', '=', orgId)
    .executeTakeFirst();
  return row?.event_webhook_url ?? null;
}

/** A delivery whose first attempt is due now; its body is built at that attempt. */
export function waitingDelivery(event: {
  readonly id: string;
  readonly orgId: string;
  readonly type: WebhookEventType;
  readonly url: string;
  readonly subjectId: string;
  readonly now: string;
}): WebhookDeliveryRow {
  return {
    id: event.id,
    org_id: event.orgId,
    type: event.type,
    url: event.url,
    subject_id: event.subjectId,
    body: null,
    created_at: event.now,
    first_attempt_at: null,
    attempts: 0,
    next_attempt_at: event.now,
    delivered_at: null,
    last_status: null,
    last_error: null,
  };
}
