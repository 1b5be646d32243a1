/** Stored mail and SMS notices awaiting delivery: one per recipient, each independent. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import {
  type AlertNoticeRow,
  type AlertRow,
  type Db,
  fromJson,
  type Json,
  type SipConfigurationRow,
} from '../db/index.ts';
import { findOrganization } from '../organizations/index.ts';
import { type AlertConfig, alertsOf } from '../trunks/index.ts';
import { mailMessage, smsMessage } from './notice-rules.ts';
import type { TrunkAlertKind } from './rules.ts';

export type NoticeChannel = AlertNoticeRow['channel'];

/** Announced when notices were stored (edge-link/announcements.ts). */
export const noticeSubject = 'alert_notices';

/** Queues the notices of an alert that was raised or resolved. Returns the channels of the configuration. */
export async function queueNotices(
  db: Db,
  clock: Clock,
  row: Pick<SipConfigurationRow, 'alert_config'>,
  alert: AlertRow & { readonly kind: TrunkAlertKind },
): Promise<AlertConfig['channels']> {
  const { channels } = alertsOf(row);
  const organization = await findOrganization(db, alert.org_id);
  const now = new Date(clock.now()).toISOString();
  const notices = [
    ...(channels.email ? readList(organization.alert_emails) : []).map((recipient) => ({
      channel: 'email' as const,
      recipient,
      ...mailMessage(alert, organization.name),
    })),
    ...(channels.sms ? readList(organization.alert_sms_numbers) : []).map((recipient) => ({
      channel: 'sms' as const,
      recipient,
      ...smsMessage(alert),
    })),
  ];
  const rows = notices.map(
    (notice): AlertNoticeRow => ({
      id: newId(),
      org_id: alert.org_id,
      alert_id: alert.id,
      event: alert.resolved_at === null ? 'raised' : 'resolved',
      ...notice,
      created_at: now,
      first_attempt_at: null,
      attempts: 0,
      next_attempt_at: now,
      delivered_at: null,
      last_error: null,
    }),
  );
  if (rows.length > 0) {
    // A list may have duplicates.
    await db
      .insertInto('alert_notices')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return channels;
}

/** A list of `organizations`: addresses or numbers. */
export function readList(json: Json<string[]>): string[] {
  return fromJson(json);
}

/** Notices of a channel that may be sent: the end of an alert waits for the notice of its start. */
export const sendableNotices = (db: Db, channel: NoticeChannel) =>
  noticesOf(db, channel).where((eb) =>
    eb.or([
      eb('event', '=', 'raised'),
      eb.not(
        eb.exists(
          eb
            .selectFrom('alert_notices as before')
            .select('before.id')
            .whereRef('before.alert_id', '=', 'alert_notices.alert_id')
            .where('before.event', '=', 'raised')
            .whereRef('before.channel', '=', 'alert_notices.channel')
            .whereRef('before.recipient', '=', 'alert_notices.recipient')
            .where('before.next_attempt_at', 'is not', null),
        ),
      ),
    ]),
  );

export const noticesOf = (db: Db, channel: NoticeChannel) =>
  db.selectFrom('alert_notices').selectAll().where('channel', '=', channel);
