/** Deliveries as their organization sees them. */
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db, WebhookDeliveryRow } from '../db/index.ts';

/** Without the body, which may be long. */
const listed = [
  'id',
  'org_id',
  'type',
  'url',
  'subject_id',
  'created_at',
  'first_attempt_at',
  'attempts',
  'next_attempt_at',
  'delivered_at',
  'last_status',
  'last_error',
] as const;

export type ListedDelivery = Pick<WebhookDeliveryRow, (typeof listed)[number]>;

export interface DeliveryFilter {
  readonly state?: 'waiting' | 'given_up' | undefined;
  /** Only deliveries after this one in list order. */
  readonly after?: Pick<WebhookDeliveryRow, 'created_at' | 'id'>;
}

/** Newest first: `created_at`, then `id`, both descending. Each filter has an index. */
export function listDeliveries(
  db: Db,
  orgId: string,
  { state, after }: DeliveryFilter,
  limit: number,
): Promise<ListedDelivery[]> {
  let query = db.selectFrom('webhook_deliveries').select(listed).where('org_id', '=', orgId);
  if (state === 'waiting') query = query.where('next_attempt_at', 'is not', null);
  if (state === 'given_up')
    query = query.where('next_attempt_at', 'is', null).where('delivered_at', 'is', null);
  if (after)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'id'), '<', tuple(after.created_at, after.id)),
    );
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

export function findDelivery(db: Db, orgId: string, id: string): Promise<WebhookDeliveryRow | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
}

/**
 * Makes an ended delivery due now, with all its attempts before it. Call it in a transaction, and announce
 * `webhookSubject` after the commit. @throws ApiError DELIVERY_NOT_FOUND, DELIVERY_WAITING
 */
export async function deliverAgain(
  db: Db,
  clock: Pick<Clock, 'now'>,
  orgId: string,
  id: string,
): Promise<ListedDelivery> {
  const row = await findDelivery(db, orgId, id);
  if (!row) throw ApiError.of('DELIVERY_NOT_FOUND');
  if (row.next_attempt_at !== null) throw ApiError.of('DELIVERY_WAITING');
  const change = {
    attempts: 0,
    first_attempt_at: null,
    next_attempt_at: new Date(clock.now()).toISOString(),
    delivered_at: null,
  };
  await db.updateTable('webhook_deliveries').set(change).where('id', '=', id).execute();
  return { ...row, ...change };
}
