/** Text conversations with a pathway (contract 11.3). */
import { type Static, Type } from 'typebox';
import { Closed, Nullable, OneOf, Open, PathId, Plain, Text, Uuid } from '#shared/api/common.ts';
import { PathwayVersionChoice } from '#shared/api/inbound.ts';

const text = Type.String();
const Optional = Type.Optional;

export const ChatCreate = Closed({
  pathway_id: Uuid(),
  pathway_version: Optional(PathwayVersionChoice),
  start_node_id: Optional(Text(1, 128)),
  request_data: Optional(Open()),
});
export type ChatCreate = Static<typeof ChatCreate>;

const Variables = Type.Record(Type.String(), Type.Unknown());

export const ChatCreated = Plain(
  Type.Object({
    chat_id: text,
    message: Nullable(Type.String({ description: 'The opening words, or null' })),
    variables: Variables,
  }),
);

export const ChatMessage = Closed({ message: Text(1, 4000) });

const ChatAnswer = Type.Object({
  chat_id: text,
  assistant_responses: Type.Array(text),
  current_node_id: Nullable(text),
  current_node_name: Nullable(text),
  chat_history: Type.Array(Type.Object({ role: OneOf(['user', 'assistant']), content: text })),
  pathway_id: text,
  pathway_version: Type.Integer(),
  variables: Variables,
  completed: Type.Boolean(),
});
export type ChatAnswer = Static<typeof ChatAnswer>;
export const ChatAnswered = Plain(ChatAnswer);

export const ChatPath = PathId('id', 'Id of the chat');
