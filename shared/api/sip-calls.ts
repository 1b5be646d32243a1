/** SIP call log and traces (contract 3.4). */
import { type Static, Type } from 'typebox';
import {
  Integer,
  Iso,
  Matching,
  NextPage,
  Nullable,
  OneOf,
  PathId,
  PhoneNumber,
  Plain,
  Text,
} from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { MediaReport, TraceMessage } from '#shared/edge-protocol/calls.ts';
import { FailoverAttempt } from '#shared/trunk-protocol.ts';

const text = Type.String();

/** Maximum Call-ID length in signaling: with more, a response would not fit into a drachtio-server frame. */
const longestCallId = 8000;

export const CallLogQuery = Type.Object({
  phone_number: Type.Optional(PhoneNumber('Only calls of this number')),
  limit: Type.Optional(Integer(1, 500, 'Most entries of a page; default: 50')),
  before: Type.Optional(Text(1, longestCallId, 'next of the previous page; also the call_id or id of a row')),
  direction: Type.Optional(OneOf(['inbound', 'outbound'], 'Only calls of this direction')),
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
  id: Type.String({ description: 'Id of the row; `call_id` of the endpoints of calls' }),
  call_id: Nullable(text, 'SIP Call-ID; null: not known yet'),
  parent_id: Nullable(text, 'Row of the call whose transfer created this one; null: none did'),
  direction: OneOf(['inbound', 'outbound'], 'inbound: to the service'),
  from: Type.String({ description: 'Who called' }),
  to: Type.String({ description: 'Who was called' }),
  status: Type.String({ description: 'SIP code and phrase, or the outcome in words' }),
  sip_code: Nullable(Type.Integer(), 'SIP code of the final response; null: in progress, or none came'),
  outcome: Type.String({ description: 'How it ended; `in_progress`: it has not' }),
  duration_seconds: Type.Number({ description: 'From the answer to the end; 0: not answered' }),
  started_at: Iso('When it began'),
  answered_at: Nullable(Iso(), 'When it was answered; null: it was not'),
  ended_at: Nullable(Iso(), 'When it ended; null: it has not'),
  source_ip: Nullable(text, 'Address of the peer; null: not known'),
  edge_id: Type.String({ description: 'Edge of the call' }),
  trunk_id: Nullable(text, 'Id of the configuration that it used; null: none'),
  codec: Nullable(text, 'Codec of the call; null: none was agreed'),
  hangup_by: Nullable(text, 'Who ended it; null: in progress'),
  termination: Nullable(
    Type.String({ description: 'Why the call ended: a code of docs/errors.md; null: it has not' }),
  ),
  termination_detail: Nullable(text, 'Why it ended, in a sentence; null: nothing to add'),
  failover_attempts: Type.Array(FailoverAttempt, {
    description: 'Endpoints that failed, or were skipped, before the last one',
  }),
  media: Nullable(MediaReport, 'Quality of the audio; null: there was none'),
});
export type CallLogEntry = Static<typeof CallLogEntry>;

export const CallLogPage = Plain(
  Type.Object({
    calls: Type.Array(CallLogEntry, { description: 'Newest first' }),
    next: NextPage(),
  }),
);
export const CallLogOne = Plain(Type.Object({ call: described(CallLogEntry, 'The call') }));

export const TracedMessage = Type.Object({
  seq: Type.Integer({ description: 'Number of the message, from 1' }),
  ...TraceMessage.properties,
});
export type TracedMessage = Static<typeof TracedMessage>;

export const Trace = Plain(
  Type.Object({
    call_id: Type.String({ description: 'SIP Call-ID' }),
    truncated: Type.Boolean({ description: 'Whether messages are missing' }),
    messages: Type.Array(TracedMessage, { maxItems: 500, description: 'By `seq`' }),
  }),
);

export const LoggedCallPath = PathId('call_id', 'SIP Call-ID (URL-encoded), or id of the call');
