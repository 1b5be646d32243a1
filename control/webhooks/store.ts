/** Events to be delivered to customers, as stored. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import { type Db, deleteInBatches, type WebhookDeliveryRow } from '../db/index.ts';
import { eventBody } from './rules.ts';

/** Finished deliveries are kept this long, for troubleshooting. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** Announced when a delivery was stored (edge-link/announcements.ts). */
export const webhookSubject = 'webhooks';

/** Deliveries due at `now` (ISO), longest due first, except the given deliveries and organizations. */
export function dueDeliveries(
  db: Db,
  now: string,
  without: { readonly ids: readonly string[]; readonly organizations: readonly string[] },
  limit: number,
): Promise<WebhookDeliveryRow[]> {
  let query = db.selectFrom('webhook_deliveries').selectAll().where('next_attempt_at', '<=', now);
  if (without.ids.length > 0) query = query.where('id', 'not in', [...without.ids]);
  if (without.organizations.length > 0) {
    query = query.where('org_id', 'not in', [...without.organizations]);
  }
  return query.orderBy('next_attempt_at').limit(limit).execute();
}

/** When the next delivery after `now` (ISO) is due; null if there is none. */
export async function nextDue(db: Db, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .executeTakeFirst();
  return row?.next_attempt_at ?? null;
}

export async function updateDelivery(
  db: Db,
  id: string,
  change: Partial<Omit<WebhookDeliveryRow, 'id' | 'org_id'>>,
): Promise<void> {
  await db.updateTable('webhook_deliveries').set(change).where('id', '=', id).execute();
}

/** Returns how many rows were deleted. */
export function pruneDeliveries(db: Db, clock: Clock): Promise<number> {
  const before = new Date(clock.now() - keptMs).toISOString();
  return deleteInBatches((limit) =>
    db
      .deleteFrom('webhook_deliveries')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('created_at', '<', before)
          .where('next_attempt_at', 'is', null)
          .limit(limit),
      )
      .executeTakeFirst(),
  );
}

export interface NewEvent {
  readonly orgId: string;
  readonly type: string;
  /** From the row or request; null: the organization's `event_webhook_url`. */
  readonly url: string | null;
  /** The event's subject, such as an alert. */
  readonly subjectId: string;
  readonly data: object;
}

/**
 * Queues an event in the transaction `db` of its cause. Announce `webhookSubject` after the commit. Returns its id;
 * null when there is no URL to send it to.
 */
export async function queueEvent(db: Db, clock: Pick<Clock, 'now'>, event: NewEvent): Promise<string | null> {
  const { orgId, type, subjectId } = event;
  const url = event.url ?? (await eventUrl(db, orgId));
  if (!url) return null;
  const now = new Date(clock.now()).toISOString();
  const id = `evt_${newId()}`;
  const body = eventBody({ id, type, orgId, now, data: event.data });
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
  readonly type: string;
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
