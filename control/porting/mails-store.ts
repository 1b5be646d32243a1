/** Mails about port requests awaiting delivery, as stored: one per recipient. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import type { Db, PortMailRow, PortRequestRow, SecretBox, Without } from '../db/index.ts';
import type { PortMail } from './notice-rules.ts';
import { portContext } from './sealed-store.ts';

/** Finished mails are kept this long, for troubleshooting. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** Announced when a mail was stored (edge-link/announcements.ts). */
export const mailSubject = 'port_mails';

/** Queues a mail to each recipient, in the transaction `db` of its cause. */
export async function queueMails(
  db: Db,
  { clock, secrets }: { readonly clock: Clock; readonly secrets: SecretBox },
  request: Pick<PortRequestRow, 'id' | 'org_id'>,
  kind: PortMailRow['kind'],
  recipients: readonly string[],
  mail: PortMail,
): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  const rows = [...new Set(recipients)].map(
    (recipient): PortMailRow => ({
      id: newId(),
      org_id: request.org_id,
      request_id: request.id,
      kind,
      recipient,
      subject: mail.subject,
      text: secrets.seal(mail.text, portContext(request.id, 'mail')),
      created_at: now,
      first_attempt_at: null,
      attempts: 0,
      next_attempt_at: now,
      delivered_at: null,
      last_error: null,
    }),
  );
  if (rows.length > 0) await db.insertInto('port_mails').values(rows).execute();
}

/** Mails due at `now` (ISO), longest due first. */
export function dueMails(db: Db, now: string, without: Without, limit: number): Promise<PortMailRow[]> {
  let query = db.selectFrom('port_mails').selectAll().where('next_attempt_at', '<=', now);
  if (without.ids.length > 0) query = query.where('id', 'not in', [...without.ids]);
  if (without.organizations.length > 0) query = query.where('org_id', 'not in', [...without.organizations]);
  return query.orderBy('next_attempt_at').limit(limit).execute();
}

/** When the next mail after `now` (ISO) is due; null if there is none. */
export async function nextMail(db: Db, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('port_mails')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .executeTakeFirst();
  return row?.next_attempt_at ?? null;
}

export async function updateMail(
  db: Db,
  id: string,
  change: Partial<Omit<PortMailRow, 'id' | 'org_id'>>,
): Promise<void> {
  await db.updateTable('port_mails').set(change).where('id', '=', id).execute();
}

/** Removes unsent mails with a link that is no longer valid. */
export async function dropSignatureMails(db: Db, requestId: string): Promise<void> {
  await db
    .updateTable('port_mails')
    .set({ next_attempt_at: null, last_error: 'the link is no longer valid' })
    .where('request_id', '=', requestId)
    .where('kind', '=', 'signature')
    .where('next_attempt_at', 'is not', null)
    .execute();
}

/** Returns how many rows were deleted. */
export async function pruneMails(db: Db, now: number): Promise<number> {
  const result = await db
    .deleteFrom('port_mails')
    .where('created_at', '<', new Date(now - keptMs).toISOString())
    .where('next_attempt_at', 'is', null)
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
