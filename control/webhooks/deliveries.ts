/**
 * Sends due deliveries, each independently (contract 13):
 *
 *     stored --due--> attempt --2xx--> delivered
 *                        | ^
 *         anything else  | | 10, 50, 200, 560 s after the first
 *                        v |
 *                     waiting --410, or the fifth failed--> given up
 */
import type { FastifyBaseLogger } from 'fastify';
import { type BackgroundWork, type Db, DueWork, type WebhookDeliveryRow } from '../db/index.ts';
import { countFailure, dueAttempts, nextDueAt, updateAttempt } from './attempts-store.ts';
import type { WebhookDeps } from './deps.ts';
import { type DeliveryOutcome, nextAttempt, outcomeOf, verdictOf } from './rules.ts';
import { type SendParts, sendEvent } from './send.ts';
import { allDeliveries, webhookSubject } from './store.ts';

export interface DeliveryParts extends SendParts {
  readonly replica: WebhookDeps['replica'];
  readonly announcements: WebhookDeps['announcements'];
  readonly log: FastifyBaseLogger;
  /** Builds the body of an event stored without one; null: its subject was deleted. @param now ms */
  readonly bodyOf: (db: Db, row: WebhookDeliveryRow, now: number) => Promise<string | null>;
  /** 0..1 */
  readonly random?: () => number;
  /** Called after each attempt. */
  readonly onAttempt?: (type: string, outcome: DeliveryOutcome) => void;
}

/** Starts at once with due deliveries. Close it before the database. */
export function startWebhookDeliveries(parts: DeliveryParts): BackgroundWork {
  const { announcements, clock, db, log, replica } = parts;
  return new DueWork<WebhookDeliveryRow>({
    db,
    replica,
    clock,
    log,
    name: 'webhook',
    mostRunning: 64,
    mostPerOrganization: 8,
    due: (on, now, without, limit) => dueAttempts(allDeliveries(on), now, without, limit),
    nextDue: (now) => nextDueAt(allDeliveries(db), now),
    attempt: (row, signal) => attempt(parts, row, signal),
    failed: (id, later, why) => countFailure(db, 'webhook_deliveries', id, later, why),
    onStored: (wake) => announcements.on(webhookSubject, wake),
  });
}

async function attempt(parts: DeliveryParts, row: WebhookDeliveryRow, signal: AbortSignal): Promise<void> {
  const { clock, db, log, random = Math.random } = parts;
  const body = row.body ?? (await parts.bodyOf(db, row, clock.now()));
  if (body === null)
    return updateAttempt(db, 'webhook_deliveries', row.id, {
      next_attempt_at: null,
      last_error: 'nothing to send',
    });
  const began = clock.now();
  const event = { id: row.id, type: row.type, body, attempt: row.attempts + 1 };
  const result = await sendEvent(parts, row.org_id, row.url, event, signal);
  const verdict = verdictOf(result);
  // An aborted attempt is repeated, unless it was delivered at that moment.
  if (signal.aborted && verdict !== 'delivered') return;
  const first = row.first_attempt_at === null ? began : Date.parse(row.first_attempt_at);
  const attempts = row.attempts + 1;
  const next = verdict === 'again' ? nextAttempt(attempts, first, random()) : null;
  await updateAttempt(db, 'webhook_deliveries', row.id, {
    body,
    attempts,
    first_attempt_at: new Date(first).toISOString(),
    next_attempt_at: next === null ? null : new Date(Math.max(next, clock.now())).toISOString(),
    delivered_at: verdict === 'delivered' ? new Date(clock.now()).toISOString() : null,
    last_status: 'status' in result ? result.status : null,
    last_error: 'error' in result ? result.error : null,
  });
  parts.onAttempt?.(row.type, outcomeOf(verdict, next));
  const facts = { webhook: row.id, org_id: row.org_id, type: row.type, attempts, ...result };
  if (verdict === 'delivered') log.info(facts, 'webhook delivered');
  else
    log.warn(
      { ...facts, next_attempt_at: next },
      next === null ? 'gave up on the webhook' : 'webhook failed',
    );
}
