/** The edge's reports about one call: its record, its transcript, its SIP trace. */
import { type Static, Type } from 'typebox';
import { answerers } from '#shared/answerer.ts';
import { described } from '#shared/described.ts';
import { FailoverAttempt } from '#shared/trunk-protocol.ts';
import { CallVariables } from './agents.ts';
import { Iso, Nullable } from './schema.ts';
import type { TranscriptFact } from './transcript-facts.ts';

export const MediaVerdict = Type.Union([
  Type.Literal('two_way'),
  Type.Literal('send_only'),
  Type.Literal('receive_only'),
  Type.Literal('none'),
]);
export type MediaVerdict = Static<typeof MediaVerdict>;

/** Whether the peer hears us, from its RTCP reports: `no` when they say nothing about our packets. */
export const PeerHears = Type.Union([Type.Literal('yes'), Type.Literal('no'), Type.Literal('unknown')]);
export type PeerHears = Static<typeof PeerHears>;

/** Quality of one call (contract 3.4), from RTCP and arrival times. Null: not measured. */
export const MediaReport = Type.Object({
  packets_sent: Type.Integer({ description: 'Packets that were sent' }),
  packets_received: Type.Integer({ description: 'Packets that came' }),
  packets_lost: Type.Integer({ description: 'Packets of the peer that were lost' }),

  jitter_ms: Nullable(Type.Number(), 'Interarrival jitter, RFC 3550 section 6.4.1; null: not measured'),
  round_trip_ms: Nullable(Type.Number(), 'Round trip by RTCP; null: not measured'),

  peer_loss_percent: Type.Optional(
    Type.Number({
      description:
        "Share of our packets lost according to the peer's last RTCP report, 0 to 100; absent: no report",
    }),
  ),

  rtcp_packets_received: Type.Optional(Type.Integer({ description: 'Authentic RTCP packets from the peer' })),
  peer_hears: Type.Optional(
    described(
      PeerHears,
      'Whether the peer hears us, by its RTCP reports; `no`: they say nothing about our packets',
    ),
  ),

  packets_from_elsewhere: Type.Optional(
    Type.Integer({
      description: 'Packets dropped because they came from another source than the one in use',
    }),
  ),

  mos: Nullable(
    Type.Number(),
    'Estimate by the E-model of ITU-T G.107, 1 to 5, of the worse direction; null: not measured',
  ),

  mos_received: Type.Optional(Nullable(Type.Number(), 'The same of the audio that came; null: not measured')),
  mos_sent: Type.Optional(
    Nullable(
      Type.Number(),
      "The same of the audio that was sent, from the peer's reports; null: not measured",
    ),
  ),
  verdict: described(MediaVerdict, 'In which directions audio went'),

  cause: Nullable(
    Type.String(),
    'Probable cause when the verdict is not two_way, in one or two sentences; null: none',
  ),

  summary: Type.Optional(Type.String({ description: 'Both directions in a sentence, with the evidence' })),

  keys: Type.Optional(
    Type.Union([Type.Literal('telephone-event'), Type.Literal('none')], {
      description: "Whether keys can be sent; `none`: the peer's SDP has no telephone-event (RFC 4733)",
    }),
  ),
});
export type MediaReport = Static<typeof MediaReport>;

export const TranscriptEntry = Type.Object({
  id: Type.String(),
  at: Iso,
  user: Type.Union([Type.Literal('user'), Type.Literal('assistant'), Type.Literal('agent-action')]),
  text: Type.String(),
  node_id: Nullable(Type.String()),
  node_name: Nullable(Type.String()),
  /** of the transcription, 0..1, and the language that it recognized; absent: it does not tell */
  confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  language: Type.Optional(Type.String({ maxLength: 35 })),
  /**
   * What happened, for programs; null: nothing but what the line says; absent: an agent of another kind, or an edge of an
   * earlier version. Later versions have further kinds, which are checked by who reads them.
   */
  fact: Type.Optional(Type.Unsafe<TranscriptFact | null>(Nullable(Type.Object({ kind: Type.String() })))),
});
export type TranscriptEntry = Static<typeof TranscriptEntry>;

/** One SIP message of a call, as on the wire except for redacted secrets (contract 3.4). */
export const TraceMessage = Type.Object({
  at: described(Iso, 'When it was sent or came'),
  direction: Type.Union([Type.Literal('sent'), Type.Literal('received')], {
    description: 'Whether the edge sent or received it',
  }),

  local: Type.String({ description: 'Address and port of the edge; IPv6 in brackets' }),
  remote: Type.String({ description: 'Address and port of the peer; IPv6 in brackets' }),
  transport: Type.Union([Type.Literal('tls'), Type.Literal('wss')], { description: 'Transport' }),
  start_line: Type.String({ description: 'Request line or status line' }),
  raw: Type.String({ description: 'The whole message; secrets are replaced by REDACTED' }),
});
export type TraceMessage = Static<typeof TraceMessage>;

/** A call's part in a conference (contract 9.10). */
export const ConferenceState = Type.Object({
  /** of the conference; in the order of time */
  id: Type.String(),
  name: Type.String(),
  opened_at: Iso,
  joined_at: Iso,
  moderator: Type.Boolean(),
  muted: Type.Boolean(),
  speaking: Type.Boolean(),
});
export type ConferenceState = Static<typeof ConferenceState>;

/** Something that a call did in a conference: an event for its organization (contract 13). */
export const ConferenceEvent = Type.Object({
  /** of the event */
  id: Type.String(),
  what: Type.Union([Type.Literal('joined'), Type.Literal('left'), Type.Literal('speaking')]),
  at: Iso,
  conference_id: Type.String(),
  name: Type.String(),
});
export type ConferenceEvent = Static<typeof ConferenceEvent>;

export const CallRecord = Type.Object({
  id: Type.String(),
  org_id: Type.String(),
  /** the call whose transfer created this one */
  parent_id: Type.Optional(Nullable(Type.String())),
  /** the transfer target, as it was named */
  transferred_to: Type.Optional(Nullable(Type.String())),
  /** the conference that the call is in now */
  conference: Type.Optional(Nullable(ConferenceState)),
  /** in one report each */
  conference_event: Type.Optional(ConferenceEvent),
  /** the test run, for both ends of its call */
  test_run_id: Type.Optional(Nullable(Type.String())),
  answered_by: Type.Optional(Nullable(Type.Enum([...answerers]))),
  sip_call_id: Type.String(),
  direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
  from: Type.String(),
  to: Type.String(),
  /** our configured number that the call belongs to */
  number: Type.String(),
  trunk_id: Nullable(Type.String()),
  source_ip: Nullable(Type.String()),
  started_at: Iso,
  answered_at: Nullable(Iso),
  ended_at: Nullable(Iso),
  status: Type.Union([
    Type.Literal('queued'),
    Type.Literal('initiated'),
    Type.Literal('ringing'),
    Type.Literal('in-progress'),
    Type.Literal('completed'),
    Type.Literal('failed'),
    Type.Literal('busy'),
    Type.Literal('no-answer'),
    Type.Literal('canceled'),
  ]),
  sip_code: Nullable(Type.Integer()),
  sip_reason: Nullable(Type.String()),
  /** code of shared/termination.ts, null while the call is live */
  termination: Nullable(Type.String()),
  termination_detail: Nullable(Type.String()),
  hangup_by: Nullable(
    Type.Union([
      Type.Literal('agent'),
      Type.Literal('peer'),
      Type.Literal('api'),
      Type.Literal('transfer'),
      Type.Literal('timeout'),
      Type.Literal('error'),
    ]),
  ),
  codec: Nullable(Type.String()),
  media: Nullable(MediaReport),
  /** failed attempts of an outbound call, in order */
  failover_attempts: Type.Optional(Type.Array(FailoverAttempt)),
  agent_kind: Nullable(Type.String()),
  pathway_id: Nullable(Type.String()),
  pathway_version: Nullable(Type.Integer()),
  persona_id: Type.Optional(Nullable(Type.String())),
  /** minutes */
  max_duration: Nullable(Type.Integer()),
  request_data: CallVariables,
  metadata: Type.Optional(CallVariables),
  variables: CallVariables,
});
export type CallRecord = Static<typeof CallRecord>;
