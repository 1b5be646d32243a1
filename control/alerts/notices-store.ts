/** Stored mail and SMS notices awaiting delivery: one per recipient, each independent. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import {
  type AlertNoticeRow,
  type AlertRow,
  type Db,
  deleteInBatches,
  fromJson,
  type Json,
  type SipConfigurationRow,
  type Without,
} from '../db/index.ts';
import { findOrganization } from '../organizations/index.ts';
import { type AlertConfig, alertsOf } from '../trunks/index.ts';
import { mailMessage, smsMessage } from './notice-rules.ts';

export type NoticeChannel = AlertNoticeRow['channel'];

/** Announced when notices were stored (edge-link/announcements.ts). */
export const noticeSubject = 'alert_notices';

/** Finished notices are kept this long, for troubleshooting. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/** Queues the notices of an alert that was raised or resolved. Returns the channels of the configuration. */
export async function queueNotices(
  db: Db,
  clock: Clock,
  row: Pick<SipConfigurationRow, 'alert_config'>,
  alert: AlertRow,
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

/** Notices due at `now` (ISO). The end of an alert waits for the notice of its start. */
export function dueNotices(
  db: Db,
  channel: NoticeChannel,
  now: string,
  without: Without,
  limit: number,
): Promise<AlertNoticeRow[]> {
  let query = db
    .selectFrom('alert_notices')
    .selectAll()
    .where('channel', '=', channel)
    .where('next_attempt_at', '<=', now)
    .where((eb) =>
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
  if (without.ids.length > 0) query = query.where('id', 'not in', [...without.ids]);
  if (without.organizations.length > 0) {
    query = query.where('org_id', 'not in', [...without.organizations]);
  }
  return query.orderBy('next_attempt_at').limit(limit).execute();
}

/** When the next notice after `now` (ISO) is due; null if there is none. */
export async function nextNotice(db: Db, channel: NoticeChannel, now: string): Promise<string | null> {
  const row = await db
    .selectFrom('alert_notices')
    .select('next_attempt_at')
    .where('channel', '=', channel)
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .executeTakeFirst();
  return row?.next_attempt_at ?? null;
}

export async function updateNotice(
  db: Db,
  id: string,
  change: Partial<Omit<AlertNoticeRow, 'id' | 'org_id'>>,
): Promise<void> {
  await db.updateTable('alert_notices').set(change).where('id', '=', id).execute();
}

/** Returns how many rows were deleted. */
export function pruneNotices(db: Db, clock: Clock): Promise<number> {
  const before = new Date(clock.now() - keptMs).toISOString();
  return deleteInBatches((limit) =>
    db
      .deleteFrom('alert_notices')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('alert_notices')
          .select('id')
          .where('created_at', '<', before)
          .where('next_attempt_at', 'is', null)
          .limit(limit),
      )
      .executeTakeFirst(),
  );
}
