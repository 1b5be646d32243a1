/** All reports of the edge. */
import { type Static, Type } from 'typebox';
import { described } from '#shared/described.ts';
import { DiscoveryResult, HealthProbe } from '#shared/trunk-protocol.ts';
import { CallRecord, MediaVerdict, TraceMessage, TranscriptEntry } from './calls.ts';
import { Refusal, TrunkMove } from './fleet.ts';
import { MeasuredCall } from './measured.ts';
import { mostRefusedOfReport, RefusedInvites } from './refused.ts';
import { Iso, Nullable, oneOf } from './schema.ts';

/** Current state of a test call (contract 3.2); the last report has a `result` other than `pending`. */
export const TestCallState = Type.Object({
  status: described(
    oneOf(['queued', 'initiated', 'ringing', 'in-progress', 'completed', 'failed', 'busy', 'no-answer']),
    'Where the call is, or how it ended',
  ),
  result: described(
    oneOf(['pending', 'connected', 'failed', 'busy', 'no_answer']),
    'connected: answered, and packets went both ways; pending: it has not ended',
  ),
  duration_seconds: Type.Number({ description: 'From the answer to the end; 0: not answered' }),
  sip_code: Nullable(Type.Integer(), 'SIP code of the final response; null: none came yet'),
  sip_call_id: Nullable(Type.String(), 'Call-ID in signaling; null: not known yet'),
  codec: Nullable(Type.String(), 'Codec of the call; null: none was agreed'),
  error: Nullable(Type.String(), 'Code of what went wrong; null: nothing'),
  diagnosis: Nullable(
    Type.String(),
    'What is wrong with the trunk, one sentence; null: it has not ended, or nothing is wrong',
  ),
  timeline: Type.Array(
    Type.Object({
      event: described(
        oneOf([
          'initiated',
          'trying',
          'ringing',
          'early_media',
          'answered',
          'media_confirmed',
          'dtmf_sent',
          'failover',
          'completed',
          'failed',
          'busy',
          'no_answer',
        ]),
        'What happened',
      ),
      at: described(Iso, 'When it happened'),
      detail: Type.String({ description: 'More about it; may be empty' }),
    }),
    { description: 'What happened, in order' },
  ),
  media: Nullable(
    Type.Object({
      packets_sent: Type.Integer({ description: 'Packets that were sent' }),
      packets_received: Type.Integer({ description: 'Packets that came' }),
      verdict: described(MediaVerdict, 'In which directions audio went'),
    }),
    'Audio of the call; null: not answered',
  ),
});
export type TestCallState = Static<typeof TestCallState>;

/** The state of a test call before its first event. */
export const queuedTestCall: TestCallState = {
  status: 'queued',
  result: 'pending',
  duration_seconds: 0,
  sip_code: null,
  sip_call_id: null,
  codec: null,
  error: null,
  diagnosis: null,
  timeline: [],
  media: null,
};

/** A binding at a customer's registrar. */
export const RegistrationState = Type.Object({
  state: oneOf(['registering', 'registered', 'failed', 'ended']),
  /** `host:port` as configured */
  registrar: Type.String(),
  at: Iso,
  /** when the binding expires unless it is refreshed; null without one */
  expires_at: Nullable(Iso),
  /** when the next attempt after a failure starts; absent: an older edge that does not report it */
  next_try_at: Type.Optional(Nullable(Iso)),
  /** SIP status of the last response */
  sip_code: Nullable(Type.Integer()),
  /** one sentence; stays until the next success */
  last_error: Nullable(Type.String()),
  /** address of the registrar that granted the last binding */
  bound_at: Type.Optional(Nullable(Type.String())),
  refusal: Type.Optional(Nullable(Refusal)),
});
export type RegistrationState = Static<typeof RegistrationState>;

/** The fleet's epoch under which it was found out (fleet.ts); absent: the edge is in no fleet. */
const Epoch = Type.Optional(Type.Integer());

export const ReportBody = Type.Union([
  /** The full current record of the call, replacing what was stored. The last one has `ended_at`. */
  Type.Object({ type: Type.Literal('call'), call: CallRecord }),
  /** Further lines of the conversation. */
  Type.Object({
    type: Type.Literal('transcript'),
    call_id: Type.String(),
    entries: Type.Array(TranscriptEntry),
  }),
  /** Further messages of the call's SIP trace, in order. `truncated`: some are missing because of the limit. */
  Type.Object({
    type: Type.Literal('trace'),
    call_id: Type.String(),
    messages: Type.Array(TraceMessage),
    truncated: Type.Boolean(),
  }),
  /** What was measured on calls since the previous report; gathered for a moment, over all calls. */
  Type.Object({ type: Type.Literal('measured'), calls: Type.Array(MeasuredCall) }),
  /** INVITEs that were refused since the previous report, counted by source, reason and number. */
  Type.Object({
    type: Type.Literal('refused'),
    refused: Type.Array(RefusedInvites, { maxItems: mostRefusedOfReport }),
  }),
  /** OPTIONS probes since the previous report, oldest first. */
  Type.Object({
    type: Type.Literal('health'),
    probes: Type.Array(HealthProbe),
    /** trunks whose next call tries another endpoint first as a result of the probes */
    moves: Type.Optional(Type.Array(TrunkMove)),
    epoch: Epoch,
  }),
  /** The full current state of a discovery. The last one is not `running`. */
  Type.Object({ type: Type.Literal('discovery'), discovery_id: Type.String(), result: DiscoveryResult }),
  /** The current state of a registration, after every change. */
  Type.Object({
    type: Type.Literal('registration'),
    trunk_id: Type.String(),
    /** of the `registration.try` command with this outcome */
    order_id: Type.Optional(Type.String()),
    epoch: Epoch,
    /** it differs from what was reported before in more than its times */
    changed: Type.Optional(Type.Boolean()),
    ...RegistrationState.properties,
  }),
  /**
   * All calls that are up on the edge: with the first link of its process, and when control has forgotten reports. Of
   * others that control knows as running, nothing more will come.
   */
  Type.Object({
    type: Type.Literal('running'),
    call_ids: Type.Array(Type.String()),
    /** reports that the edge could not deliver and no longer has */
    lost_reports: Type.Integer(),
  }),
  /** The full current state of a test call. */
  Type.Object({
    type: Type.Literal('test_call'),
    test_call_id: Type.String(),
    ...TestCallState.properties,
  }),
]);
export type ReportBody = Static<typeof ReportBody>;

export const Report = Type.Object({ seq: Type.Integer(), at: Iso, body: ReportBody });
export type Report = Static<typeof Report>;
