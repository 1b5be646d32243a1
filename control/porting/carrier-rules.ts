/** State names of a carrier's porting API, and the signature of its webhook. Pure. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { toE164 } from '#shared/e164.ts';
import type { PortStatus } from '../db/index.ts';
import type { CarrierOrderState } from './carrier.ts';
import { isDate } from './initiate-rules.ts';

const Optional = Type.Optional;
const Line = Type.Union([Type.String({ maxLength: 1000 }), Type.Null()]);

export const OrderAnswer = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  status: Type.String({ maxLength: 100 }),
  reason: Optional(Line),
  foc_date: Optional(Line),
  phone_numbers: Optional(
    Type.Array(
      Type.Object({
        phone_number: Type.String({ maxLength: 64 }),
        status: Type.String({ maxLength: 100 }),
        reason: Optional(Line),
      }),
      { maxItems: 1000 },
    ),
  ),
});
export const OrdersAnswer = Type.Object({ orders: Type.Array(Type.Object({ id: Type.String() })) });
export const DocumentAnswer = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) });
export const PortabilityAnswer = Type.Object({
  results: Type.Array(
    Type.Object({
      phone_number: Type.String({ maxLength: 64 }),
      portable: Type.Boolean(),
      number_type: Optional(Type.String({ maxLength: 100 })),
      pin_required: Optional(Type.Boolean()),
      reason: Optional(Line),
    }),
    { maxItems: 1000 },
  ),
});

/** A carrier's name for a state; lower case, `-` and blanks as `_`. */
const words: Readonly<Record<string, PortStatus>> = {
  draft: 'submitted',
  new: 'submitted',
  pending: 'submitted',
  submitted: 'submitted',
  received: 'submitted',
  in_process: 'in_progress',
  in_progress: 'in_progress',
  processing: 'in_progress',
  accepted: 'in_progress',
  approved: 'in_progress',
  foc: 'in_progress',
  foc_received: 'in_progress',
  foc_date_confirmed: 'in_progress',
  activation_in_progress: 'in_progress',
  completed: 'completed',
  complete: 'completed',
  ported: 'completed',
  failed: 'failed',
  rejected: 'failed',
  exception: 'failed',
  // Not at the customer's request: that would already have ended the request here.
  canceled: 'failed',
  cancelled: 'failed',
};

function statusOf(word: string): PortStatus | null {
  return (
    words[
      word
        .trim()
        .toLowerCase()
        .replaceAll(/[-\s]+/g, '_')
    ] ?? null
  );
}

/** @param numbers of the request: they take the order's state when the response does not list them */
export function orderState(
  answer: Static<typeof OrderAnswer>,
  numbers: readonly string[],
): CarrierOrderState {
  const named = new Map(answer.phone_numbers?.map((one) => [toE164(one.phone_number), one]));
  const focDate = answer.foc_date?.slice(0, 10) ?? null;
  return {
    id: answer.id,
    focDate: focDate !== null && isDate(focDate) ? focDate : null,
    numbers: numbers.map((number) => {
      const own = named.get(number);
      const status = statusOf(own?.status ?? answer.status);
      const reason = own?.reason ?? answer.reason ?? null;
      return { number, status, reason: reason?.slice(0, 500) || null };
    }),
  };
}

/** Longest difference between the webhook's time and ours, s. */
const signatureSeconds = 300;

/**
 * Whether a webhook is from the carrier: lower-case hex HMAC-SHA256 of `<timestamp>.<body>`, recent.
 * @param timestamp unix seconds as text @param now ms
 */
export function isSigned(
  body: string,
  timestamp: string | undefined,
  signature: string | undefined,
  secret: string,
  now: number,
): boolean {
  if (timestamp === undefined || signature === undefined || !/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1000 - Number(timestamp)) > signatureSeconds) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest();
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(signature) ? signature : '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Seconds until a failed order is retried, by consecutive failures. */
const pauses = [10, 30, 120, 600, 1800, 3600] as const;

/** @param random 0..1, spreads by ±10 % */
export function orderPauseMs(attempts: number, random: number): number {
  const seconds = pauses[Math.min(attempts, pauses.length) - 1] ?? pauses[0];
  return Math.round(seconds * 1000 * (0.9 + 0.2 * random));
}
