/** Calls (contract section 9). */
import { type Static, Type } from 'typebox';
import { answerers } from '#shared/answerer.ts';
import {
  BooleanOrText,
  Closed,
  Integer,
  Iso,
  List,
  Matching,
  NextPage,
  Nullable,
  OmittedParts,
  OneOf,
  Open,
  PathId,
  PhoneNumber,
  Plain,
  Success,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { LanguageTag, PathwayVersionChoice, ToolId, TransferTarget } from '#shared/api/inbound.ts';
import { KeyTerms } from '#shared/api/key-terms.ts';
import { RealtimeAgentChoice } from '#shared/api/realtime.ts';
import { RecordingSettings } from '#shared/api/recordings.ts';
import { maxCustomHeaders } from '#shared/custom-headers.ts';
import { described } from '#shared/described.ts';

const text = Type.String();
const Optional = Type.Optional;
const Clearable = <T extends Parameters<typeof Nullable>[0]>(schema: T, description?: string) =>
  Optional(Nullable(schema, description));

/** POST /v1/calls (contract 9.1). */
export const CallOrder = Closed({
  phone_number: Text(1, 512, 'E.164 number, extension or SIP URI'),
  from: Optional(Text(1, 64, 'Number of the organization with an outbound configuration')),
  task: Optional(Text(1, 20_000, 'What the agent is to do, in words; exactly one source of an agent')),
  pathway_id: Optional(Uuid('Pathway that talks; exactly one source of an agent')),
  persona_id: Optional(Uuid('Persona that talks; exactly one source of an agent')),
  stream_url: Optional(
    Text(1, 2048, 'wss:// URL of a server that is the agent; exactly one source of an agent'),
  ),
  realtime: Optional(
    described(RealtimeAgentChoice, 'Model that hears and speaks; exactly one source of an agent'),
  ),
  pathway_version: Optional(
    described(
      PathwayVersionChoice,
      'Version of the pathway: a number, 0 for the live graph, `production` or `staging`; default: production',
    ),
  ),
  start_node_id: Optional(Text(1, 128, 'Node at which the pathway begins; default: its start node')),
  first_sentence: Clearable(Text(0, 1000), 'Template that is spoken first; null: what the agent says'),
  wait_for_greeting: Optional(
    BooleanOrText('Whether the agent waits until the callee has spoken; default: false'),
  ),
  block_interruptions: Optional(
    BooleanOrText('Whether the caller cannot interrupt the agent; default: false'),
  ),
  ignore_button_press: Optional(BooleanOrText('Whether keys of the peer are ignored; default: false')),
  voice: Optional(Text(1, 100, 'Name of a voice; default: that of the deployment')),
  model: Optional(OneOf(['base', 'turbo'], 'Language model of the deployment; default: base')),
  language: Optional(described(LanguageTag, 'Language of the conversation; default: en-US')),
  temperature: Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Temperature of the language model; default: 0.7' }),
  ),
  interruption_threshold: Optional(Integer(0, 5000, 'Speech that interrupts the agent, ms')),
  timezone: Optional(Text(1, 64, 'Zone of dates and times; default: America/Los_Angeles')),
  transfer_phone_number: Clearable(
    TransferTarget,
    'Target of transfers: E.164, an extension or a SIP URI; null: none',
  ),
  transfer_list: Clearable(
    Type.Record(Type.String(), TransferTarget, { maxProperties: 50 }),
    'Targets of transfers by name; null: none',
  ),
  max_duration: Optional(Integer(1, 720, 'Longest call, minutes')),
  tools: Optional(List(ToolId, 0, 50, 'Ids of tools that the agent may use')),
  voicemail: Optional(
    Closed(
      {
        action: Optional(OneOf(['hangup', 'leave_message', 'ignore'], 'What to do; default: hangup')),
        message: Optional(Text(0, 2000, 'Template that is left on the mailbox; required with leave_message')),
      },
      'What to do when a mailbox answers',
    ),
  ),
  precall_dtmf_sequence: Clearable(
    Matching('^[0-9*#w]{1,64}$', '1 to 64 of 0-9, *, #, and w for a pause'),
    'Keys to send after the answer, before the agent begins; `w` waits 0.5 s; null: none',
  ),
  request_data: Optional(Open('Variables of the conversation')),
  metadata: Optional(Open('Stored with the call, sent to nobody')),
  webhook: Clearable(
    Text(1, 2048, 'https:// URL that gets call.completed; null: that of the number or organization'),
  ),
  recording: Optional(
    described(RecordingSettings, 'Whether the call is recorded; default: as the organization says'),
  ),
  key_terms: Optional(described(KeyTerms, 'Names and words that the other party is likely to say')),
});
export type CallOrder = Static<typeof CallOrder>;

export const CallQueued = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
  call_id: Type.String({ description: 'Id of the call' }),
  batch_id: Type.Null({ description: 'Always null' }),
});

/** Of a call that has not ended. */
export const liveStatuses = ['queued', 'initiated', 'ringing', 'in-progress'] as const;
/** Statuses of calls (contract 9.2). */
export const callStatuses = [
  ...liveStatuses,
  'completed',
  'failed',
  'busy',
  'no-answer',
  'canceled',
] as const;

/** What a list shows of a call; under its id it has more (contract 9.2). */
const listed = {
  call_id: Type.String({ description: 'Id of the call' }),
  parent_id: Nullable(text, 'The call that this leg of a transfer belongs to; null: it is a call of its own'),
  to: Type.String({ description: 'Who is called' }),
  from: Type.String({ description: 'Who calls' }),
  direction: OneOf(['inbound', 'outbound'], 'inbound: to the service'),
  status: Type.String({ description: `Where the call is, or how it ended: ${callStatuses.join(', ')}` }),
  completed: Type.Boolean({ description: 'Whether the call has ended' }),
  started_at: Iso('When it was requested, or arrived'),
  answered_at: Nullable(Iso(), 'When it was answered; null: it was not'),
  end_at: Nullable(Iso(), 'When it ended; null: it has not'),
  call_length: Type.Number({ description: 'Time since the answer, minutes' }),
  corrected_duration: Type.Integer({ description: 'Time since the answer, s' }),
  answered_by: Nullable(OneOf([...answerers]), 'Who answered; null: inbound, or not known yet'),
  call_ended_by: Nullable(
    OneOf(['ASSISTANT', 'USER', 'API', 'ERROR']),
    'Who ended it; null: it has not ended',
  ),
  termination: Nullable(text, 'Why it ended: a code of docs/errors.md; null: it has not ended'),
  error_message: Nullable(text, 'Why it failed; null: it did not'),
  pathway_id: Nullable(text, 'Pathway that talks; null: another agent'),
  pathway_version: Nullable(Type.Integer(), 'Version of the pathway; 0 is the live graph; null: no pathway'),
  persona_id: Nullable(text, 'Persona that talks; null: another agent'),
  transferred_to: Nullable(text, 'Target that the call was transferred to; null: it was not'),
  sip_call_id: Nullable(text, 'Call-ID in signaling; null: not known yet'),
  trunk_id: Nullable(text, 'Id of the configuration that it used; null: none'),
};

export const ListedCall = Type.Object(listed);
export type ListedCall = Static<typeof ListedCall>;

export const CallView = Type.Object({
  ...listed,
  c_id: Type.String({ description: 'The same id' }),
  batch_id: Type.Null({ description: 'Always null' }),
  inbound: Type.Boolean({ description: 'Whether `direction` is inbound' }),
  queue_status: Type.String({ description: 'The same as `status`' }),
  created_at: Iso('The same as `started_at`'),
  max_duration: Nullable(Type.Integer(), 'Longest call, minutes; null: not known'),
  request_data: Open('Variables as sent, or as set for the number'),
  metadata: Open('As sent, or as set for the number'),
  variables: Open('Variables at the end: of headers and of the conversation'),
  concatenated_transcript: Type.String({ description: 'Lines `<user>: <text>`' }),
  transcripts: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Id of the line' }),
      created_at: Iso('When it was said'),
      text: Type.String({ description: 'What was said' }),
      user: OneOf(['user', 'assistant', 'agent-action'], 'Who said it'),

      confidence: Nullable(Type.Number(), 'How certain the transcription is, 0 to 1; null: it does not say'),
      language: Nullable(text, 'Language that the transcription recognized; null: it does not say'),
    }),
    { description: 'What was said, in order' },
  ),
  pathway_logs: Type.Array(
    Type.Object({
      role: Type.String({ description: 'Who said it' }),
      text: Type.String({ description: 'What was said' }),
      node_id: Nullable(text, 'Node that said it; null: none'),
      node_name: Nullable(text, 'Name of the node; null: none'),
      created_at: Iso('When it was said'),
    }),
    { description: 'The same lines with their nodes' },
  ),
  omitted: OmittedParts,
});
export type CallView = Static<typeof CallView>;

/** GET /v1/calls (contract 9.12). */
export const CallListQuery = Type.Object({
  limit: Optional(Integer(1, 500, 'Most calls of a page; default: 50')),
  before: Optional(Text(1, 64, 'next of the previous page')),
  phone_number: Optional(PhoneNumber('Only calls of this number of the organization')),
  other_party: Optional(Text(1, 256, 'The number or user at the other end')),
  direction: Optional(OneOf(['inbound', 'outbound'], 'Only calls of this direction')),
  status: Optional(OneOf(callStatuses, 'Only calls with this status')),
  from_date: Optional(Text(1, 40, 'Date or ISO time, inclusive')),
  to_date: Optional(Text(1, 40, 'ISO time, exclusive; a bare date includes its day')),
  pathway_id: Optional(Uuid('Pathway that the call began with')),
  persona_id: Optional(Uuid('Persona that the call began with')),
  trunk_id: Optional(Text(1, 64, 'Configuration that the call used')),
  termination: Optional(
    Matching('^[a-z0-9_]{1,64}$', 'a code of docs/errors.md', { description: 'Why the call ended' }),
  ),
});
export type CallListQuery = Static<typeof CallListQuery>;

export const CallList = Plain(
  Type.Object({ calls: Type.Array(ListedCall, { description: 'Newest first' }), next: NextPage() }),
);

/** POST /v1/calls/{call_id}/stop; all optional. Header names and values: shared/custom-headers.ts. */
export const CallStop = Closed({
  cause: Optional(Integer(1, 127, 'Q.850 cause for the Reason header of the BYE')),
  headers: Optional(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: maxCustomHeaders,
      description: 'Headers of the BYE, by name',
    }),
  ),
});
export type CallStop = Static<typeof CallStop>;

export const CallStopped = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
});

/** Of the endpoints that control a running call (contract 9.9). */
export const CallControlled = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
});

/** POST /v1/calls/{call_id}/park. */
export const CallPark = Closed({
  slot: Matching('^[0-9A-Za-z_-]{1,32}$', '1 to 32 of letters, digits, _ and -', {
    description: 'Name of the place, free on the edge of the call',
  }),
  timeout_s: Optional(Integer(5, 3600, 'How long the call stays parked, s; default: 120')),
  on_timeout: Optional(OneOf(['agent', 'end'], 'Where it goes then; default: back to the agent')),
});

/** POST /v1/calls/{call_id}/retrieve: one of the two, or neither for the agent. */
export const CallRetrieve = Closed({
  call_id: Optional(Uuid('Another running call that it is joined with')),
  phone_number: Optional(described(TransferTarget, 'Target that is called and joined; not with `call_id`')),
});
export type CallRetrieve = Static<typeof CallRetrieve>;

/** POST /v1/calls/active/transfer (contract 9.3); the warm transfer fields are an addition to the contract. */
export const CallTransfer = Closed({
  call_id: Uuid('Call to transfer'),
  transfer_number: described(TransferTarget, 'Target: E.164, an extension or a SIP URI'),
  method: Optional(
    OneOf(['bridge', 'refer'], 'bridge: the edge calls the target; refer: the peer does; default: bridge'),
  ),
  announcement: Optional(Text(1, 1000, 'Spoken to the target before the calls are bridged')),
  accept_key: Optional(
    Matching('^[0-9*#]$', 'one of 0-9, * and #', {
      description: 'Key with which the target accepts the call',
    }),
  ),
});
export type CallTransfer = Static<typeof CallTransfer>;

export const CallTransferStarted = Plain(
  Type.Object({ message: Type.String({ description: 'Says what happened, for people' }) }),
);

/** GET /v1/calls/transcripts (contract 9.6). */
export const TranscriptQuery = Type.Object({
  query: Text(1, 200, 'Words; "in quotes" one after the other; an asterisk at the end of a word for any end'),
  limit: Optional(Integer(1, 100, 'Most entries of a page; default: 20')),
  before: Optional(Text(1, 200, 'next of the previous page')),
});
export type TranscriptQuery = Static<typeof TranscriptQuery>;

export const FoundLine = Type.Object({
  id: Type.String({ description: 'Id of the line' }),
  call_id: Type.String({ description: 'Id of its call' }),
  created_at: Iso('When it was said'),
  user: OneOf(['user', 'assistant', 'agent-action'], 'Who said it'),
  text: Type.String({ description: 'What was said' }),
  direction: OneOf(['inbound', 'outbound'], 'Direction of the call'),
  from: Type.String({ description: 'Who called' }),
  to: Type.String({ description: 'Who was called' }),
  started_at: Iso('When the call began'),
});
export type FoundLine = Static<typeof FoundLine>;

export const FoundLines = Plain(
  Type.Object({ lines: Type.Array(FoundLine, { description: 'The last line first' }), next: NextPage() }),
);

export const CallPath = PathId('call_id', 'Id of the call');
