/** A webhook delivery that is due now. */
import type { Clock } from '#shared/clock.ts';
import { toJson } from '../../../control/db/json.ts';
import type { WebhookDeliveryRow } from '../../../control/db/tables.ts';

export function newDelivery(clock: Pick<Clock, 'now'>): WebhookDeliveryRow {
  const now = new Date(clock.now()).toISOString();
  return {
    id: 'evt_1',
    org_id: 'org',
    type: 'call.completed',
    url: 'https://hooks.example.com/',
    subject_id: 'call',
    body: toJson({}),
    created_at: now,
    first_attempt_at: null,
    attempts: 0,
    next_attempt_at: now,
    delivered_at: null,
    last_status: null,
    last_error: null,
  };
}

/** One of an organization that was given up. */
export function endedDelivery(orgId: string, more: Partial<WebhookDeliveryRow> = {}): WebhookDeliveryRow {
  const { next_attempt_at: _none, created_at, ...row } = newDelivery({ now: () => Date.UTC(2030) });
  const ended = { attempts: 5, first_attempt_at: created_at, next_attempt_at: null, last_status: 500 };
  return { ...row, created_at, id: 'evt_ended', org_id: orgId, ...ended, ...more };
}
