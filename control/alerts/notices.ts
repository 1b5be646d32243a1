/** Delivers notices by mail and SMS, each channel independently. */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { type AlertNoticeRow, type BackgroundWork, type Db, DueWork, together } from '../db/index.ts';
import {
  countFailure,
  type DeliveryOutcome,
  dueAttempts,
  nextAttempt,
  nextDueAt,
  updateAttempt,
} from '../webhooks/index.ts';
import type { AlertDeps } from './deps.ts';
import { noticeSchedule, redacted, threadIds } from './notice-rules.ts';
import { type NoticeChannel, noticeSubject, noticesOf, sendableNotices } from './notices-store.ts';
import type { NoticeSender, SendResult } from './senders.ts';

export interface NoticeParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly replica: AlertDeps['replica'];
  readonly announcements: AlertDeps['announcements'];
  readonly log: FastifyBaseLogger;
  readonly senders: Readonly<Record<NoticeChannel, NoticeSender>>;
  /** Sender address of mail. */
  readonly mailFrom: string;
  /** Timeout of one attempt, ms. */
  readonly timeoutMs: number;
  /** 0..1 */
  readonly random: () => number;
  /** Called after each attempt. */
  readonly onAttempt: (channel: NoticeChannel, outcome: DeliveryOutcome) => void;
}

/** Starts at once with due notices. */
export function startNotices(parts: NoticeParts): BackgroundWork {
  return together((['email', 'sms'] as const).map((channel) => startChannel(parts, channel)));
}

function startChannel(parts: NoticeParts, channel: NoticeChannel): DueWork<AlertNoticeRow> {
  const { announcements, clock, db, log, replica } = parts;
  return new DueWork<AlertNoticeRow>({
    db,
    replica,
    clock,
    log,
    name: `${channel} notice`,
    mostRunning: 8,
    mostPerOrganization: 4,
    due: (on, now, without, limit) => dueAttempts(sendableNotices(on, channel), now, without, limit),
    nextDue: (now) => nextDueAt(noticesOf(db, channel), now),
    attempt: (row, signal) => attempt(parts, row, signal),
    failed: (id, later, why) => countFailure(db, 'alert_notices', id, later, why, noticeSchedule),
    onStored: (wake) => announcements.on(noticeSubject, wake),
  });
}

async function attempt(parts: NoticeParts, row: AlertNoticeRow, ending: AbortSignal): Promise<void> {
  const { clock, db, mailFrom, random } = parts;
  const began = clock.now();
  const ids = threadIds(row.alert_id, row.event, mailFrom);
  const notice = { ...row, ...ids, createdAt: Date.parse(row.created_at) };
  const result = await withLimit(parts, ending, (signal) => parts.senders[row.channel].send(notice, signal));
  // An aborted attempt is repeated, unless it was delivered at that moment.
  if (ending.aborted && result.outcome !== 'sent') return;
  const first = row.first_attempt_at === null ? began : Date.parse(row.first_attempt_at);
  const attempts = row.attempts + 1;
  const next =
    result.outcome === 'unavailable' ? nextAttempt(attempts, first, random(), noticeSchedule) : null;
  await updateAttempt(db, 'alert_notices', row.id, {
    attempts,
    first_attempt_at: new Date(first).toISOString(),
    next_attempt_at: next === null ? null : new Date(Math.max(next, clock.now())).toISOString(),
    delivered_at: result.outcome === 'sent' ? new Date(clock.now()).toISOString() : null,
    last_error: result.outcome === 'sent' ? null : withoutRecipient(result.error, row.recipient),
  });
  report(parts, row, result, attempts, next);
}

/** Runs one attempt until it ends, times out, or the program stops. */
export async function withLimit(
  { clock, timeoutMs }: Pick<NoticeParts, 'clock' | 'timeoutMs'>,
  ending: AbortSignal,
  work: (signal: AbortSignal) => Promise<SendResult>,
): Promise<SendResult> {
  const limit = new AbortController();
  const timer = clock.after(timeoutMs, () => limit.abort(new Error(`timed out after ${timeoutMs} ms`)));
  try {
    const result = await work(AbortSignal.any([ending, limit.signal]));
    if (result.outcome === 'sent' || !limit.signal.aborted) return result;
    return { outcome: 'unavailable', error: `timed out after ${timeoutMs} ms` };
  } finally {
    timer.cancel();
  }
}

function report(
  { log, onAttempt }: NoticeParts,
  row: AlertNoticeRow,
  result: SendResult,
  attempts: number,
  next: number | null,
): void {
  const { id: notice, alert_id, org_id, channel, event } = row;
  const to = redacted(row.recipient);
  const facts = { notice, alert_id, org_id, channel, event, to, attempts };
  if (result.outcome === 'sent') {
    onAttempt(channel, 'delivered');
    log.info(facts, 'alert notice delivered');
    return;
  }
  onAttempt(channel, next === null ? 'given_up' : 'again');
  const error = withoutRecipient(result.error, row.recipient);
  log.warn(
    { ...facts, error, next_attempt_at: next },
    next === null ? 'gave up on the alert notice' : 'alert notice failed',
  );
}

/** Servers repeat the address in their answers. */
function withoutRecipient(error: string, recipient: string): string {
  return error.replaceAll(recipient, redacted(recipient));
}
