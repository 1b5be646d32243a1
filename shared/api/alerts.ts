/** Alerts of trunks, and of watches over production calls (contract 3.5). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  NextPage,
  Nullable,
  OneOf,
  PhoneNumber,
  Plain,
  Uuid,
} from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();
const directions = ['inbound', 'outbound'] as const;
/** Of configurations. */
export const trunkAlertKinds = [
  'unreachable',
  'failure_rate',
  'response_time',
  'certificate_expiring',
] as const;
const alertKinds = [...trunkAlertKinds, 'watch_drift'] as const;

export const AlertQuery = Type.Object({
  phone_number: Optional(PhoneNumber('Only alerts of this number')),
  state: Optional(OneOf(['open', 'resolved'], 'Only open alerts, or only resolved ones')),
  kind: Optional(OneOf(alertKinds, 'Only alerts of this kind')),
  limit: Optional(Integer(1, 500, 'Most entries of a page; default: 50')),
  before: Optional(Uuid('next of the previous page')),
});

export const AlertView = Type.Object({
  alert_id: Type.String({ description: 'Id of the alert' }),
  kind: OneOf(alertKinds, 'What is wrong'),
  state: OneOf(['open', 'resolved'], 'Whether it still is'),
  phone_number: Nullable(text, 'Number of the configuration or watch; null: a watch over all numbers'),
  configuration_id: Nullable(text, 'Id of the configuration; null: it is of a watch'),
  watch_id: Nullable(text, 'Id of the watch over production calls; null: it is of a configuration'),
  direction: Nullable(
    OneOf(directions, 'Direction of the configuration'),
    'Direction of the configuration; null: it is of a watch',
  ),
  endpoint: Nullable(text, 'Endpoint that it is about; null: it is about none'),
  threshold: Type.Number({
    description: 'Minutes, percent, ms or days, by kind; at the time of the alert',
  }),
  value: Type.Number({ description: 'As it was when the alert was raised' }),
  window_minutes: Nullable(Type.Integer(), 'Window of the failure rate, minutes; null: another kind'),
  raised_at: Iso('When it was raised'),
  resolved_at: Nullable(Iso(), 'When it was resolved; null: it is open'),
});
export type AlertView = Static<typeof AlertView>;

export const AlertPage = Plain(
  Type.Object({ alerts: Type.Array(AlertView, { description: 'Newest first' }), next: NextPage() }),
);

export const AlertTest = Closed({
  phone_number: PhoneNumber('Number of the configuration'),
  direction: OneOf(directions, 'Its direction'),
  configuration_id: Optional(Uuid('Id of the configuration; default: the primary one')),
});
export type AlertTest = Static<typeof AlertTest>;

export const AlertTestResult = Type.Object({
  channel: OneOf(['email', 'sms', 'webhook'], 'Channel that was tried'),
  target_count: Type.Integer({ description: 'Number of its recipients' }),
  ok: Type.Boolean({ description: 'Whether every target accepted the notification' }),
  error: Nullable(text, 'Why it failed; null: it did not'),
});
export type AlertTestResult = Static<typeof AlertTestResult>;

export const AlertTested = Plain(
  Type.Object({ channels: Type.Array(AlertTestResult, { description: 'One for each enabled channel' }) }),
);
