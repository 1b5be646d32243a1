/** Mails about port requests awaiting delivery, as stored: one per recipient. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import type { Db, PortMailRow, PortRequestRow, SecretBox } from '../db/index.ts';
import type { PortMail } from './notice-rules.ts';
import { portContext } from './sealed-store.ts';

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

export const allMails = (db: Db) => db.selectFrom('port_mails').selectAll();

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
