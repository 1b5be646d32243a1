/** The events that are posted to customers' URLs: each type with its payload (contract 13). */
import { type Static, Type } from 'typebox';
import { described } from '#shared/described.ts';
import { Batch, SimulationSet } from './agent-testing/batches.ts';
import { SentRun } from './agent-testing/runs.ts';
import { TornadoStatusView } from './agent-testing/tornado.ts';
import { WatchAlarm } from './agent-testing/watches.ts';
import { trunkAlertKinds } from './alerts.ts';
import { CallView } from './calls.ts';
import { Iso, Nullable, OneOf } from './common.ts';
import { portStatuses } from './porting.ts';

const text = Type.String();
const said = (description: string) => Type.String({ description });
const direction = (of: string) => OneOf(['inbound', 'outbound'], `Direction of the ${of}`);

const alert = Type.Object({
  alert_id: said('Id of the alert'),
  kind: OneOf(trunkAlertKinds, 'What is wrong'),
  state: OneOf(['alert.raised', 'alert.resolved'], 'Whether it still is'),
  phone_number: said('Number of the configuration'),
  configuration_id: said('Id of the configuration'),
  direction: direction('configuration'),
  endpoint: Nullable(text, 'Endpoint that it is about; null: it is about none'),
  threshold: Type.Number({ description: 'Minutes, percent, ms or days, by kind' }),
  value: Type.Number({ description: 'As it was when the alert was raised or resolved' }),
  window_minutes: Nullable(Type.Integer(), 'Time that was looked at; null: not of this kind'),
  raised_at: Iso('When it was raised'),
  resolved_at: Nullable(Iso(), 'When it was resolved; null: it is open'),
});
export type AlertNotice = Static<typeof alert>;

const drift = Type.Object({
  watch_id: said('Id of the watch'),
  name: said('Its name'),
  pathway_id: Nullable(text, 'Pathway whose calls are watched; null: of a persona or number'),
  persona_id: Nullable(text, 'Persona whose calls are watched; null: of a pathway or number'),
  phone_number: Nullable(text, 'Number whose calls are watched; null: of all'),
  alarm: described(WatchAlarm, 'The versions that were compared'),
  resolved_at: Nullable(Iso(), 'When it was over; null: it is not'),
});

const inConference = Type.Object({
  conference_id: said('Id of the conference'),
  name: said('Its name'),
  call_id: said('Id of the call'),
  direction: direction('call'),
  from: said('Who calls'),
  to: said('Who is called'),
  at: Iso('When it happened'),
});

/** In the order of contract 13. */
export const webhookEvents = {
  'sip.alert.raised': { summary: 'An alert of a trunk was raised', data: alert },
  'sip.alert.resolved': { summary: 'An alert of a trunk was resolved', data: alert },
  'sip.alert.test': {
    summary: 'Somebody tests the alerts of a trunk',
    data: Type.Object({
      state: Type.Literal('alert.test', { description: 'Always alert.test' }),
      phone_number: said('Number of the configuration'),
      configuration_id: said('Id of the configuration'),
      direction: direction('configuration'),
      endpoint: Nullable(text, 'Its endpoint; null: it has none'),
    }),
  },
  'port.status_changed': {
    summary: 'A port request has another status',
    data: Type.Object({
      port_request_id: said('Id of the request'),
      from_status: OneOf(portStatuses, 'Where it was'),
      to_status: OneOf(portStatuses, 'Where it is'),
      reason: Nullable(text, 'Why; null: no reason was given'),
      phone_numbers: Type.Array(
        Type.Object({ number: said('E.164'), status: OneOf(portStatuses, 'Where this number is') }),
        { maxItems: 50, description: 'All numbers of the request' },
      ),
    }),
  },
  'test_run.completed': {
    summary: 'A test run that belongs to no batch, set or tornado session has ended',
    data: SentRun,
  },
  'test_batch.completed': { summary: 'A batch of test runs has ended', data: Batch },
  'simulation_set.completed': { summary: 'A simulation set has ended', data: SimulationSet },
  'test_watch.drift_raised': { summary: 'A version passes fewer of the watched calls', data: drift },
  'test_watch.drift_resolved': { summary: 'The drift of a watch is over', data: drift },
  'tornado.completed': { summary: 'A tornado session has ended', data: TornadoStatusView },
  'call.completed': {
    summary: 'A call has ended; the body is the call itself',
    data: CallView,
    /** The body is `data` alone: what identifies the event is in the headers. */
    isBare: true,
  },
  'conference.joined': { summary: 'A call has joined a conference', data: inConference },
  'conference.left': { summary: 'A call has left a conference', data: inConference },
  'conference.speaking': {
    summary: 'A call begins to speak in a conference, and it is not the one that spoke last',
    data: inConference,
  },
} as const;

export type WebhookEventType = keyof typeof webhookEvents;
export type WebhookData<T extends WebhookEventType> = Static<(typeof webhookEvents)[T]['data']>;
