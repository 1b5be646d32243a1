/** Orders at the carrier's porting API, as stored: the next step for each request. */
import type { Db, PortOrderRow, Without } from '../db/index.ts';

/** Announced when the carrier has to be contacted (edge-link/announcements.ts). */
export const orderSubject = 'port_orders';

/** Queues the order of a signed request, in the transaction of the signature. */
export async function queueOrder(
  db: Db,
  request: { id: string; org_id: string },
  now: string,
): Promise<void> {
  const row: PortOrderRow = {
    id: request.id,
    org_id: request.org_id,
    state: 'submitting',
    carrier_order_id: null,
    attempts: 0,
    next_attempt_at: now,
    last_error: null,
    created_at: now,
    updated_at: now,
  };
  await db.insertInto('port_orders').values(row).execute();
}

/** Queues the cancellation of a request's order with the carrier. */
export async function cancelOrder(db: Db, requestId: string, now: string): Promise<void> {
  await db
    .updateTable('port_orders')
    .set({ state: 'canceling', attempts: 0, next_attempt_at: now, updated_at: now })
    .where('id', '=', requestId)
    .where('state', 'in', ['submitting', 'following'])
    .execute();
}

/** Schedules a query of an order at once. False when there is no such open order. */
export async function hurryOrder(db: Db, carrierOrderId: string, now: string): Promise<boolean> {
  const result = await db
    .updateTable('port_orders')
    .set({ next_attempt_at: now })
    .where('carrier_order_id', '=', carrierOrderId)
    .where('state', '=', 'following')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** @param state changed only while the order is in this state */
export async function updateOrder(
  db: Db,
  id: string,
  state: PortOrderRow['state'],
  change: Partial<Omit<PortOrderRow, 'id' | 'org_id'>>,
): Promise<void> {
  await db.updateTable('port_orders').set(change).where('id', '=', id).where('state', '=', state).execute();
}

/** Stores the carrier's id, whatever has happened to the order meanwhile. */
export async function setCarrierOrderId(db: Db, id: string, carrierOrderId: string): Promise<void> {
  await db
    .updateTable('port_orders')
    .set({ carrier_order_id: carrierOrderId })
    .where('id', '=', id)
    .execute();
}

/** Orders due at `now` (ISO), longest due first. */
export function dueOrders(db: Db, now: string, without: Without, limit: number): Promise<PortOrderRow[]> {
  let query = db.selectFrom('port_orders').selectAll().where('next_attempt_at', '<=', now);
  if (without.ids.length > 0) query = query.where('id', 'not in', [...without.ids]);
  if (without.organizations.length > 0) query = query.where('org_id', 'not in', [...without.organizations]);
  return query.orderBy('next_attempt_at').limit(limit).execute();
}

/** When the next order after `now` (ISO) is due; null if there is none. */
export async function nextOrder(db: Db, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('port_orders')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .executeTakeFirst();
  return row?.next_attempt_at ?? null;
}
