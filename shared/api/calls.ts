/** Calls (contract section 9). */
import { type Static, Type } from 'typebox';
import { Iso, Nullable, OneOf, Open, PathId, Success } from '#shared/api/common.ts';

const text = Type.String();

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
  answered_by: Nullable(OneOf(['human', 'voicemail', 'unknown'])),
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
    Type.Object({ id: text, created_at: Iso(), text, user: OneOf(['user', 'assistant', 'agent-action']) }),
  ),
  pathway_logs: Type.Array(
    Type.Object({ role: text, text, node_id: Nullable(text), node_name: Nullable(text), created_at: Iso() }),
  ),
  sip_call_id: text,
  trunk_id: Nullable(text),
});
export type CallView = Static<typeof CallView>;

export const CallStopped = Success({ message: text });

export const CallPath = PathId('call_id', 'Id of the call');
