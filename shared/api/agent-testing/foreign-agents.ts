/** Agents that are not ours, as the targets of scenarios (contract 6.13). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  List,
  Nullable,
  OneOf,
  Open,
  PageQuery,
  PathId,
  Text,
} from '#shared/api/common.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

/** How a chat is spoken with over HTTP. */
const chatFormats = ['openai', 'form'] as const;

const Pointer = (description: string) =>
  Type.String({ pattern: '^(/[^/]{1,100}){1,10}$', maxLength: 300, description });

const settings = {
  name: Text(1, 200),
  url: Text(1, 2000, 'https; each message of the caller is a POST to it'),
  format: OneOf(
    chatFormats,
    'openai: a chat completion with the whole conversation; form: the declared body for each message',
  ),
  model: Optional(Nullable(Text(1, 200, 'Of format openai, where it is required'))),
  body: Optional(
    Nullable(
      Type.Unsafe<Record<string, unknown>>({
        ...Open(),
        description:
          'Of format form, where it is required: JSON in which {{message}} and {{conversation_id}} are replaced in texts, and the text {{history}} by the list of messages before',
      }),
    ),
  ),
  reply: Optional(
    Nullable(Pointer("Of format form, where it is required: JSON Pointer to the agent's words")),
  ),
  ended: Optional(Nullable(Pointer('Of format form: JSON Pointer to a value that is true at the end'))),
  speaks_first: Optional(
    Type.Boolean({ description: 'Of format form: the first request has an empty message. Default: false' }),
  ),
  timeout_ms: Optional(Integer(1000, 60_000, 'For an answer; default: 30000')),
};

const HeaderName = () => Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' });

export const ForeignAgentWrite = Closed({
  ...settings,
  headers: Optional(
    List(
      Closed({
        name: HeaderName(),
        value: Optional(
          Type.String({
            pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
            maxLength: 4000,
            description: 'Left out: as stored, if the host stays the same',
          }),
        ),
      }),
      0,
      20,
    ),
  ),
});
export type ForeignAgentWrite = Static<typeof ForeignAgentWrite>;

const fields = {
  id: text,
  name: text,
  url: text,
  format: OneOf(chatFormats),
  model: Nullable(text),
  body: Nullable(Open()),
  reply: Nullable(text),
  ended: Nullable(text),
  speaks_first: Type.Boolean(),
  timeout_ms: Type.Integer(),
  headers: Type.Array(Type.Object({ name: text }), {
    maxItems: 20,
    description: 'Their values are not shown',
  }),
  created_at: Iso(),
  updated_at: Iso(),
};
const ForeignAgentView = Type.Object(fields);
export type ForeignAgentView = Static<typeof ForeignAgentView>;
export const ForeignAgentAnswer = Testing(fields);
export const ForeignAgentQuery = PageQuery(100, 100);
export const ForeignAgentList = Testing({
  agents: Type.Array(ForeignAgentView, { maxItems: 100 }),
  total_count: Type.Integer(),
});
export const ForeignAgentPath = PathId('id', 'Id of the agent');
