/** Agents that are not ours, as the targets of scenarios (contract 6.13). */
import { type Static, type TSchema, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  List,
  Matching,
  Nullable,
  OneOf,
  Open,
  PageQuery,
  PathId,
  PhoneNumber,
  Text,
} from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

/** How an agent is reached: as a chat over HTTP in one of two forms, or over a call. */
export const foreignFormats = ['openai', 'form', 'stream', 'realtime', 'call'] as const;
export type ForeignFormat = (typeof foreignFormats)[number];

const Pointer = (description: string) =>
  Type.String({ pattern: '^(/[^/]{1,100}){1,10}$', maxLength: 300, description });
const Given = <T extends TSchema>(schema: T) => Optional(Nullable(schema));

const settings = {
  name: Text(1, 200, 'Name of the agent'),
  format: OneOf(
    foreignFormats,
    'openai: a chat completion with the whole conversation; form: the declared body for each message; stream: a bot behind a WebSocket; realtime: a model that hears and speaks; call: an agent that answers a telephone',
  ),
  url: Given(
    Text(
      1,
      2000,
      'Of openai and form: https, gets a POST for each message; of stream: wss, the stream_url of the bot; null: of another format',
    ),
  ),
  model: Given(Text(1, 200, 'Of openai: model that is asked for; null: of another format')),
  body: Given(
    Type.Unsafe<Record<string, unknown>>({
      ...Open(),
      description:
        'Of form: JSON in which {{message}} and {{conversation_id}} are replaced in texts, and the text {{history}} by the list of messages before; null: of another format',
    }),
  ),
  reply: Given(Pointer("Of form: JSON Pointer to the agent's words; null: of another format")),
  ended: Given(Pointer('Of form: JSON Pointer to a value that is true at the end; null: nothing tells')),
  speaks_first: Optional(
    Type.Boolean({ description: 'Of form: the first request has an empty message. Default: false' }),
  ),
  timeout_ms: Optional(Integer(1000, 60_000, 'Of openai and form: for an answer; default: 30000')),
  connection: Given(
    Text(1, 64, 'Of realtime: name of a connection of the organization; null: of another format'),
  ),
  instructions: Given(Text(1, 20_000, 'Of realtime: what the model is told; null: of another format')),
  from: Given(
    PhoneNumber('Of call: number with an outbound configuration that calls; null: of another format'),
  ),
  to: Given(
    Text(
      1,
      300,
      'Of call: E.164, an extension, or a SIP URI, called over the trunks of from; null: of another format',
    ),
  ),
  calls_per_minute: Optional(Integer(1, 60, 'Of call: the most calls to it in a minute; default: 6')),
};

const HeaderName = () => Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' });

export const ForeignAgentWrite = Closed({
  ...settings,
  headers: Optional(
    List(
      Closed({
        name: described(HeaderName(), 'Name of the header'),
        value: Optional(
          Matching(
            '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
            'ASCII characters without a space at either end',
            {
              maxLength: 4000,
              description: 'Left out: as stored, if the host, or to, stays the same',
            },
          ),
        ),
      }),
      0,
      20,
      'Headers of each request, or of the INVITE; stored encrypted',
    ),
  ),
});
export type ForeignAgentWrite = Static<typeof ForeignAgentWrite>;

const fields = {
  id: Type.String({ description: 'Id of the agent' }),
  name: Type.String({ description: 'Its name' }),
  format: OneOf(foreignFormats, 'How it is reached'),
  url: Nullable(text, 'Where it is reached; null: its format has no URL'),
  model: Nullable(text, 'Model that is asked for; null: its format has none'),
  body: Nullable(Open(), 'Body of each request; null: its format has none'),
  reply: Nullable(text, "JSON Pointer to the agent's words; null: its format has none"),
  ended: Nullable(text, 'JSON Pointer to a value that is true at the end; null: none'),
  speaks_first: Type.Boolean({ description: 'Whether the first request has an empty message' }),
  timeout_ms: Type.Integer({ description: 'Longest wait for one answer, ms' }),
  connection: Nullable(text, 'Name of a connection of the organization; null: its format has none'),
  instructions: Nullable(text, 'What the model is told; null: its format has none'),
  from: Nullable(text, 'Number that calls; null: its format has none'),
  to: Nullable(text, 'Who is called; null: its format has none'),
  calls_per_minute: Nullable(Type.Integer(), 'Most calls to it in a minute; null: its format has none'),
  proven_at: Nullable({
    ...Iso(),
    description: 'Of call: since when it may be called; null: not yet, or another format',
  }),
  headers: Type.Array(
    Type.Object({ name: Type.String({ description: 'Name of the header; its value is never shown' }) }),
    {
      maxItems: 20,
      description: 'Their values are not shown',
    },
  ),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
const ForeignAgentView = Type.Object(fields);
export type ForeignAgentView = Static<typeof ForeignAgentView>;
export const ForeignAgentAnswer = Testing(fields);
export const ForeignAgentQuery = PageQuery(100, 100);
export const ForeignAgentList = Testing({
  agents: Type.Array(ForeignAgentView, { maxItems: 100, description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});
export const ForeignAgentPath = PathId('id', 'Id of the agent');

/** A call that says and keys a code to the one who answers. */
export const OwnershipCall = Testing({
  expires_at: { ...Iso(), description: 'Until when the code is accepted' },
});
export const OwnershipCode = Closed({
  code: Type.String({
    pattern: '^[0-9]{6}$',
    examples: ['471102'],
    description: 'Code of six digits that the call said',
  }),
});
