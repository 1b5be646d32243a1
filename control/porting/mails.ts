/** Sends mails about port requests, each independently, until the mail server accepts them or they are given up. */
import type { FastifyBaseLogger } from 'fastify';
import { noticeSchedule, redacted } from '../alerts/index.ts';
import { type BackgroundWork, DueWork, type PortMailRow } from '../db/index.ts';
import {
  countFailure,
  type DeliveryOutcome,
  dueAttempts,
  nextAttempt,
  nextDueAt,
  pruneAttempts,
  updateAttempt,
} from '../webhooks/index.ts';
import type { PortingDeps } from './deps.ts';
import { allMails, mailSubject } from './mails-store.ts';
import { portContext } from './sealed-store.ts';

/** Sends mail; shared with alerts. */
export interface MailSender {
  send(
    mail: {
      readonly id: string;
      readonly recipient: string;
      readonly subject: string;
      readonly text: string;
      readonly messageId: string;
      readonly createdAt: number;
    },
    signal: AbortSignal,
  ): Promise<
    { readonly outcome: 'sent' } | { readonly outcome: 'refused' | 'unavailable'; readonly error: string }
  >;
}

export interface MailParts {
  readonly services: PortingDeps;
  readonly sender: MailSender;
  readonly log: FastifyBaseLogger;
  /** 0..1 */
  readonly random: () => number;
  /** Called after each attempt. */
  readonly onAttempt: (kind: PortMailRow['kind'], outcome: DeliveryOutcome) => void;
}

/** Starts at once with what is due. */
export function startMails(parts: MailParts): BackgroundWork {
  const { announcements, clock, database, replica } = parts.services;
  const { db } = database;
  return new DueWork<PortMailRow>({
    db,
    replica,
    clock,
    log: parts.log,
    name: 'port mail',
    mostRunning: 4,
    mostPerOrganization: 2,
    due: (on, now, without, limit) => dueAttempts(allMails(on), now, without, limit),
    nextDue: (now) => nextDueAt(allMails(db), now),
    attempt: (row, signal) => attempt(parts, row, signal),
    failed: (id, later, why) => countFailure(db, 'port_mails', id, later, why, noticeSchedule),
    onStored: (wake) => announcements.on(mailSubject, wake),
  });
}

async function attempt(parts: MailParts, row: PortMailRow, ending: AbortSignal): Promise<void> {
  const { log, onAttempt, random, services } = parts;
  const { clock, database } = services;
  const began = clock.now();
  const result = await send(parts, row, ending);
  // An aborted attempt is repeated, unless it was delivered at that moment.
  if (ending.aborted && result.outcome !== 'sent') return;
  const first = row.first_attempt_at === null ? began : Date.parse(row.first_attempt_at);
  const attempts = row.attempts + 1;
  const again = result.outcome === 'unavailable';
  const next = again ? nextAttempt(attempts, first, random(), noticeSchedule) : null;
  const error =
    result.outcome === 'sent' ? null : result.error.replaceAll(row.recipient, redacted(row.recipient));
  await updateAttempt(database.db, 'port_mails', row.id, {
    attempts,
    first_attempt_at: new Date(first).toISOString(),
    next_attempt_at: next === null ? null : new Date(Math.max(next, clock.now())).toISOString(),
    delivered_at: error === null ? new Date(clock.now()).toISOString() : null,
    last_error: error,
  });
  await pruneAttempts(database.db, clock, 'port_mails');
  const facts = { mail: row.id, port: row.request_id, kind: row.kind, to: redacted(row.recipient), attempts };
  if (error === null) {
    onAttempt(row.kind, 'delivered');
    log.info(facts, 'port mail delivered');
  } else {
    onAttempt(row.kind, next === null ? 'given_up' : 'again');
    log.warn(
      { ...facts, error, next_attempt_at: next },
      next === null ? 'gave up on the port mail' : 'port mail failed',
    );
  }
}

async function send(
  { sender, services }: MailParts,
  row: PortMailRow,
  ending: AbortSignal,
): ReturnType<MailSender['send']> {
  const { clock, config, limits, secrets } = services;
  const { sendTimeoutMs: timeoutMs } = limits.alerts;
  const limit = new AbortController();
  const timer = clock.after(timeoutMs, () => limit.abort(new Error(`timed out after ${timeoutMs} ms`)));
  const mail = {
    id: row.id,
    recipient: row.recipient,
    subject: row.subject,
    text: secrets.open(row.text, portContext(row.request_id, 'mail')),
    // The same in every attempt, so that duplicates are recognized (RFC 5322, 3.6.4).
    messageId: `<port.${row.id}@${domainOf(config.mail?.from ?? '')}>`,
    createdAt: Date.parse(row.created_at),
  };
  try {
    return await sender.send(mail, AbortSignal.any([ending, limit.signal]));
  } finally {
    timer.cancel();
  }
}

function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'trunkline.invalid';
}
