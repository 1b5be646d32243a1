/** Text conversations with a pathway (contract 11.3). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Iso,
  Nullable,
  OneOf,
  Open,
  PageQuery,
  PathId,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
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

const ChatLine = Type.Object({
  chat_id: text,
  pathway_id: text,
  pathway_version: Type.Integer(),
  completed: Type.Boolean(),
  created_at: Iso(),
  last_message_at: Iso(),
});
export type ChatLine = Static<typeof ChatLine>;
export const ChatList = Plain(Type.Object({ chats: Type.Array(ChatLine), total_count: Type.Integer() }));
export const ChatQuery = PageQuery(100, 50);
export const ChatOne = Plain(
  Type.Object({ ...ChatLine.properties, chat_history: ChatAnswer.properties.chat_history }),
);
export const ChatDeleted = Plain(Type.Object({ deleted: Type.Literal(true) }));
