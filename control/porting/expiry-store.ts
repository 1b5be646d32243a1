/** Requests waiting for a signature, by their expiry. */
import type { Db, Without } from '../db/index.ts';

/** Announced when a request starts to wait (edge-link/announcements.ts). */
export const signatureExpirySubject = 'port_signatures';

/** Requests expired at `now` (ISO). */
export function expiredRequests(
  db: Db,
  now: string,
  without: Without,
  limit: number,
): Promise<{ id: string; org_id: string }[]> {
  let query = db
    .selectFrom('port_requests')
    .select(['id', 'org_id'])
    .where('status', '=', 'waiting_for_signature')
    .where('signature_expires_at', '<=', now);
  if (without.ids.length > 0) query = query.where('id', 'not in', [...without.ids]);
  if (without.organizations.length > 0) query = query.where('org_id', 'not in', [...without.organizations]);
  return query.orderBy('signature_expires_at').limit(limit).execute();
}

/** The next expiry, ISO; null when none waits. */
export async function nextSignatureExpiry(db: Db, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('port_requests')
    .select('signature_expires_at')
    .where('status', '=', 'waiting_for_signature')
    .where('signature_expires_at', '>', now)
    .orderBy('signature_expires_at')
    .executeTakeFirst();
  return row?.signature_expires_at ?? null;
}
