/** Webhook schedule, format and signature: pure functions (contract 13). */
import { createHmac } from 'node:crypto';
import type { WebhookData, WebhookEventType } from '#shared/api/webhook-events.ts';

/** Seconds from the first attempt of a webhook to each attempt. */
export const webhookSchedule: readonly number[] = [0, 10, 50, 200, 560];
const spread = 0.1;

/**
 * When the next attempt is due, ms since 1970; null when none is left.
 * @param attempts made so far
 * @param first time of the first attempt, ms
 * @param random 0..1, spreads attempts by ±10 % so that many deliveries do not coincide
 * @param schedule seconds from the first attempt to each
 */
export function nextAttempt(
  attempts: number,
  first: number,
  random: number,
  schedule: readonly number[] = webhookSchedule,
): number | null {
  const seconds = schedule[attempts];
  if (seconds === undefined) return null;
  return first + Math.round(seconds * 1000 * (1 - spread + 2 * spread * random));
}

/**
 * The stored result of an attempt that failed inside the service, because it threw or the program crashed: a failed
 * attempt, and the next one at `later` (ISO) at the earliest, if one is left.
 * @param why one sentence
 */
export function afterFailure(
  row: {
    readonly attempts: number;
    readonly first_attempt_at: string | null;
    readonly next_attempt_at: string | null;
  },
  later: string,
  why: string,
  schedule: readonly number[] = webhookSchedule,
) {
  const attempts = row.attempts + 1;
  const isLeft = row.next_attempt_at !== null && attempts < schedule.length;
  return {
    attempts,
    first_attempt_at: row.first_attempt_at ?? later,
    next_attempt_at: isLeft ? later : null,
    last_error: why,
  };
}

/** Result of an attempt: the response status, or why there was none. */
export type AttemptResult = { readonly status: number } | { readonly error: string };

export type Verdict = 'delivered' | 'again' | 'stopped';

/** 410 means gone for good; everything else but 2xx is retried. */
export function verdictOf(result: AttemptResult): Verdict {
  if (!('status' in result)) return 'again';
  if (result.status >= 200 && result.status < 300) return 'delivered';
  return result.status === 410 ? 'stopped' : 'again';
}

/** What an attempt means for the delivery. */
export type DeliveryOutcome = 'delivered' | 'again' | 'given_up';

/** @param next when the next attempt is due; null when none is left */
export function outcomeOf(verdict: Verdict, next: number | null): DeliveryOutcome {
  if (verdict === 'delivered') return 'delivered';
  return next === null ? 'given_up' : 'again';
}

export interface Event {
  /** `evt_<uuid>` */
  readonly id: string;
  readonly type: string;
  readonly body: string;
  /** from 1 */
  readonly attempt: number;
}

/** The body of every event but `call.completed`. @param event its `now` is ISO */
export function eventBody<T extends WebhookEventType>(event: {
  readonly id: string;
  readonly type: T;
  readonly orgId: string;
  readonly now: string;
  readonly data: WebhookData<T>;
}): string {
  const { id, type, orgId, now, data } = event;
  return JSON.stringify({ id, type, created_at: now, org_id: orgId, data });
}

/** @param secret hexadecimal text, which is itself the key @param now ms */
export function webhookHeaders(event: Event, secret: string, now: number): Record<string, string> {
  const time = Math.floor(now / 1000);
  const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(event.body)),
    'user-agent': 'Trunkline',
    'x-webhook-signature': hmac(event.body),
    // What was recorded and is sent again later has an old time, which this signature covers.
    'x-webhook-signature-timed': `t=${time},v1=${hmac(`${time}.${event.id}.${event.body}`)}`,
    'x-webhook-id': event.id,
    'x-webhook-timestamp': String(time),
    'x-webhook-attempt': String(event.attempt),
    'x-webhook-event': event.type,
  };
}
