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
import { described } from '#shared/described.ts';

const text = Type.String();
const Optional = Type.Optional;

export const ChatCreate = Closed({
  pathway_id: Uuid('Pathway to talk to'),
  pathway_version: Optional(
    described(
      PathwayVersionChoice,
      'Its version: a number, 0 for the live graph, `production` or `staging`; default: production',
    ),
  ),
  start_node_id: Optional(Text(1, 128, 'Node at which it begins; default: its start node')),
  request_data: Optional(Open('Variables of the conversation')),
});
export type ChatCreate = Static<typeof ChatCreate>;

const Variables = Type.Record(Type.String(), Type.Unknown());

export const ChatCreated = Plain(
  Type.Object({
    chat_id: Type.String({ description: 'Id of the chat' }),
    message: Nullable(Type.String({ description: 'The opening words, or null' })),
    variables: described(Variables, 'Variables of the conversation'),
  }),
);

export const ChatMessage = Closed({ message: Text(1, 4000, 'What the person says') });

const ChatAnswer = Type.Object({
  chat_id: Type.String({ description: 'Id of the chat' }),
  assistant_responses: Type.Array(text, { description: 'What the agent says, in order' }),
  current_node_id: Nullable(text, 'Node at which the conversation is; null: none'),
  current_node_name: Nullable(text, 'Name of that node; null: none'),
  chat_history: Type.Array(
    Type.Object({
      role: OneOf(['user', 'assistant'], 'Who said it'),
      content: Type.String({ description: 'What was said' }),
    }),
    { description: 'The whole conversation, in order' },
  ),
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  pathway_version: Type.Integer({ description: 'Its version; 0 is the live graph' }),
  variables: described(Variables, 'Variables of the conversation'),
  completed: Type.Boolean({ description: 'Whether the conversation has ended' }),
});
export type ChatAnswer = Static<typeof ChatAnswer>;
export const ChatAnswered = Plain(ChatAnswer);

export const ChatPath = PathId('id', 'Id of the chat');

const ChatLine = Type.Object({
  chat_id: Type.String({ description: 'Id of the chat' }),
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  pathway_version: Type.Integer({ description: 'Its version; 0 is the live graph' }),
  completed: Type.Boolean({ description: 'Whether the conversation has ended' }),
  created_at: Iso('When it was created'),
  last_message_at: Iso('When the last message came'),
});
export type ChatLine = Static<typeof ChatLine>;
export const ChatList = Plain(
  Type.Object({
    chats: Type.Array(ChatLine, { description: 'Newest first' }),
    total_count: Type.Integer({ description: 'How many there are on all pages' }),
  }),
);
export const ChatQuery = PageQuery(100, 50);
export const ChatOne = Plain(
  Type.Object({
    ...ChatLine.properties,
    chat_history: described(ChatAnswer.properties.chat_history, 'The whole conversation, in order'),
  }),
);
export const ChatDeleted = Plain(
  Type.Object({ deleted: Type.Literal(true, { description: 'Always true' }) }),
);
