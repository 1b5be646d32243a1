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
  Nullable,
  OmittedParts,
  OneOf,
  Open,
  PathId,
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

const text = Type.String();
const Optional = Type.Optional;
const Clearable = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Optional(Nullable(schema));

/** POST /v1/calls (contract 9.1). */
export const CallOrder = Closed({
  phone_number: Text(1, 512, 'E.164 number, extension or SIP URI'),
  from: Optional(Text(1, 64, 'Number of the organization with an outbound configuration')),
  task: Optional(Text(1, 20_000)),
  pathway_id: Optional(Uuid()),
  persona_id: Optional(Uuid()),
  stream_url: Optional(Text(1, 2048, 'A wss:// URL')),
  realtime: Optional(RealtimeAgentChoice),
  pathway_version: Optional(PathwayVersionChoice),
  start_node_id: Optional(Text(1, 128)),
  first_sentence: Clearable(Text(0, 1000)),
  wait_for_greeting: Optional(BooleanOrText()),
  block_interruptions: Optional(BooleanOrText()),
  ignore_button_press: Optional(BooleanOrText()),
  voice: Optional(Text(1, 100)),
  model: Optional(OneOf(['base', 'turbo'])),
  language: Optional(LanguageTag),
  temperature: Optional(Type.Number({ minimum: 0, maximum: 1 })),
  interruption_threshold: Optional(Integer(0, 5000, 'ms')),
  timezone: Optional(Text(1, 64)),
  transfer_phone_number: Clearable(TransferTarget),
  transfer_list: Clearable(Type.Record(Type.String(), TransferTarget, { maxProperties: 50 })),
  max_duration: Optional(Integer(1, 720, 'minutes')),
  tools: Optional(List(ToolId, 0, 50)),
  voicemail: Optional(
    Closed({
      action: Optional(OneOf(['hangup', 'leave_message', 'ignore'])),
      message: Optional(Text(0, 2000)),
    }),
  ),
  precall_dtmf_sequence: Clearable(Matching('^[0-9*#w]{1,64}$', '1 to 64 of 0-9, *, #, and w for a pause')),
  request_data: Optional(Open()),
  metadata: Optional(Open()),
  webhook: Clearable(Text(1, 2048, 'An https:// URL')),
  recording: Optional(RecordingSettings),
  key_terms: Optional(KeyTerms),
});
export type CallOrder = Static<typeof CallOrder>;

export const CallQueued = Success({ message: text, call_id: text, batch_id: Type.Null() });

export const CallView = Type.Object({
  call_id: text,
  c_id: text,
  batch_id: Type.Null(),
  to: text,
  from: text,
  inbound: Type.Boolean(),
  direction: OneOf(['inbound', 'outbound']),
  status: text,
  queue_status: text,
  completed: Type.Boolean(),
  created_at: Iso(),
  started_at: Iso(),
  end_at: Nullable(Iso()),
  call_length: Type.Number({ description: 'minutes' }),
  corrected_duration: Type.Integer({ description: 'seconds' }),
  max_duration: Nullable(Type.Integer({ description: 'minutes' })),
  answered_by: Nullable(OneOf([...answerers])),
  call_ended_by: Nullable(OneOf(['ASSISTANT', 'USER', 'API', 'ERROR'])),
  error_message: Nullable(text),
  pathway_id: Nullable(text),
  pathway_version: Nullable(Type.Integer()),
  persona_id: Nullable(text),
  request_data: Open(),
  metadata: Open(),
  variables: Open(),
  transferred_to: Nullable(text),
  concatenated_transcript: text,
  transcripts: Type.Array(
    Type.Object({
      id: text,
      created_at: Iso(),
      text,
      user: OneOf(['user', 'assistant', 'agent-action']),
      /** of the transcription; null: it does not tell */
      confidence: Nullable(Type.Number()),
      language: Nullable(text),
    }),
  ),
  pathway_logs: Type.Array(
    Type.Object({ role: text, text, node_id: Nullable(text), node_name: Nullable(text), created_at: Iso() }),
  ),
  sip_call_id: Nullable(text),
  trunk_id: Nullable(text),
  omitted: OmittedParts,
});
export type CallView = Static<typeof CallView>;

/** POST /v1/calls/{call_id}/stop; all optional. Header names and values: shared/custom-headers.ts. */
export const CallStop = Closed({
  cause: Optional(Integer(1, 127, 'Q.850 cause for the Reason header of the BYE')),
  headers: Optional(Type.Record(Type.String(), Type.String(), { maxProperties: maxCustomHeaders })),
});
export type CallStop = Static<typeof CallStop>;

export const CallStopped = Success({ message: text });

/** Of the endpoints that control a running call (contract 9.9). */
export const CallControlled = Success({ message: text });

/** POST /v1/calls/{call_id}/park. */
export const CallPark = Closed({
  slot: Matching('^[0-9A-Za-z_-]{1,32}$', '1 to 32 of letters, digits, _ and -'),
  timeout_s: Optional(Integer(5, 3600)),
  on_timeout: Optional(OneOf(['agent', 'end'])),
});

/** POST /v1/calls/{call_id}/retrieve: one of the two, or neither for the agent. */
export const CallRetrieve = Closed({
  call_id: Optional(Uuid()),
  phone_number: Optional(TransferTarget),
});
export type CallRetrieve = Static<typeof CallRetrieve>;

/** POST /v1/calls/active/transfer (contract 9.3); the warm transfer fields are an addition to the contract. */
export const CallTransfer = Closed({
  call_id: Uuid(),
  transfer_number: TransferTarget,
  method: Optional(OneOf(['bridge', 'refer'])),
  announcement: Optional(Text(1, 1000, 'Spoken to the target before the calls are bridged')),
  accept_key: Optional(
    Matching('^[0-9*#]$', 'one of 0-9, * and #', {
      description: 'Key with which the target accepts the call',
    }),
  ),
});
export type CallTransfer = Static<typeof CallTransfer>;

export const CallTransferStarted = Plain(Type.Object({ message: text }));

/** GET /v1/calls/transcripts (contract 9.6). */
export const TranscriptQuery = Type.Object({
  query: Text(1, 200, 'Words; "in quotes" one after the other; an asterisk at the end of a word for any end'),
  limit: Optional(Integer(1, 100)),
  before: Optional(Text(1, 200, 'id of the last line of the previous page')),
});
export type TranscriptQuery = Static<typeof TranscriptQuery>;

export const FoundLine = Type.Object({
  id: text,
  call_id: text,
  created_at: Iso(),
  user: OneOf(['user', 'assistant', 'agent-action']),
  text,
  direction: OneOf(['inbound', 'outbound']),
  from: text,
  to: text,
  started_at: Iso(),
});
export type FoundLine = Static<typeof FoundLine>;

export const FoundLines = Plain(Type.Object({ lines: Type.Array(FoundLine) }));

export const CallPath = PathId('call_id', 'Id of the call');
