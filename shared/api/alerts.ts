/** Alerts of trunks (contract 3.5). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Iso, Nullable, OneOf, PhoneNumber, Plain, Uuid } from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();
const directions = ['inbound', 'outbound'] as const;
const kinds = ['unreachable', 'failure_rate', 'response_time', 'certificate_expiring'] as const;

export const AlertQuery = Type.Object({
  phone_number: Optional(PhoneNumber()),
  state: Optional(OneOf(['open', 'resolved'])),
  kind: Optional(OneOf(kinds)),
  limit: Optional(Integer(1, 500)),
  before: Optional(Uuid('alert_id of the last entry of the previous page')),
});

export const AlertView = Type.Object({
  alert_id: text,
  kind: OneOf(kinds),
  state: OneOf(['open', 'resolved']),
  phone_number: text,
  configuration_id: text,
  direction: OneOf(directions),
  endpoint: Nullable(text),
  threshold: Type.Number({
    description: 'Minutes, percent, ms or days, by kind; at the time of the alert',
  }),
  value: Type.Number({ description: 'As it was when the alert was raised' }),
  window_minutes: Nullable(Type.Integer()),
  raised_at: Iso(),
  resolved_at: Nullable(Iso()),
});
export type AlertView = Static<typeof AlertView>;

export const AlertPage = Plain(Type.Object({ alerts: Type.Array(AlertView) }));

export const AlertTest = Closed({
  phone_number: PhoneNumber(),
  direction: OneOf(directions),
  configuration_id: Optional(Uuid()),
});
export type AlertTest = Static<typeof AlertTest>;

export const AlertTestResult = Type.Object({
  channel: OneOf(['email', 'sms', 'webhook']),
  target_count: Type.Integer(),
  ok: Type.Boolean({ description: 'Whether every target accepted the notification' }),
  error: Nullable(text),
});
export type AlertTestResult = Static<typeof AlertTestResult>;

export const AlertTested = Plain(Type.Object({ channels: Type.Array(AlertTestResult) }));
