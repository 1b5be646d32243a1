/** SIP call log and traces (contract 3.4). */
import { type Static, Type } from 'typebox';
import {
  Integer,
  Iso,
  Matching,
  Nullable,
  OneOf,
  PathId,
  PhoneNumber,
  Plain,
  Text,
} from '#shared/api/common.ts';
import { MediaReport, TraceMessage } from '#shared/edge-protocol/calls.ts';
import { FailoverAttempt } from '#shared/trunk-protocol.ts';

const text = Type.String();

/** Maximum Call-ID length in signaling: with more, a response would not fit into a drachtio-server frame. */
const longestCallId = 8000;

export const CallLogQuery = Type.Object({
  phone_number: Type.Optional(PhoneNumber()),
  limit: Type.Optional(Integer(1, 500)),
  before: Type.Optional(Text(1, longestCallId, 'call_id or id of the last row of the previous page')),
  direction: Type.Optional(OneOf(['inbound', 'outbound'])),
  status: Type.Optional(Text(1, 32, 'An outcome, or a three-digit SIP code')),
  from_date: Type.Optional(Text(1, 40, 'Date or ISO time, inclusive')),
  to_date: Type.Optional(Text(1, 40, 'ISO time, exclusive; a bare date includes its day')),
  other_party: Type.Optional(Text(1, 256, 'The number or user at the other end')),
  termination: Type.Optional(
    Matching('^[a-z0-9_]{1,64}$', 'a code of docs/errors.md', { description: 'Why the call ended' }),
  ),
  max_mos: Type.Optional(Type.Number({ minimum: 1, maximum: 5, description: 'Calls with this MOS or less' })),
  trunk_id: Type.Optional(Text(1, 64, 'Configuration that the call used')),
});
export type CallLogQuery = Static<typeof CallLogQuery>;

export const CallLogEntry = Type.Object({
  id: text,
  call_id: Nullable(text),
  parent_id: Nullable(text),
  direction: OneOf(['inbound', 'outbound']),
  from: text,
  to: text,
  status: text,
  sip_code: Nullable(Type.Integer()),
  outcome: text,
  duration_seconds: Type.Number(),
  started_at: Iso(),
  answered_at: Nullable(Iso()),
  ended_at: Nullable(Iso()),
  source_ip: Nullable(text),
  edge_id: text,
  trunk_id: Nullable(text),
  codec: Nullable(text),
  hangup_by: Nullable(text),
  termination: Nullable(Type.String({ description: 'Why the call ended: a code of docs/errors.md' })),
  termination_detail: Nullable(text),
  failover_attempts: Type.Array(FailoverAttempt),
  media: Nullable(MediaReport),
});
export type CallLogEntry = Static<typeof CallLogEntry>;

export const CallLogPage = Plain(
  Type.Object({
    calls: Type.Array(CallLogEntry),
    next: Nullable(Type.String({ description: 'before of the next page; null: this one is the last' })),
  }),
);
export const CallLogOne = Plain(Type.Object({ call: CallLogEntry }));

export const TracedMessage = Type.Object({ seq: Type.Integer(), ...TraceMessage.properties });
export type TracedMessage = Static<typeof TracedMessage>;

export const Trace = Plain(
  Type.Object({
    call_id: text,
    truncated: Type.Boolean(),
    messages: Type.Array(TracedMessage, { maxItems: 500 }),
  }),
);

export const LoggedCallPath = PathId('call_id', 'SIP Call-ID (URL-encoded), or id of the call');
