/** Agents that are not ours, as the targets of scenarios (contract 6.13). */
import { type Static, type TSchema, Type } from 'typebox';
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
  PhoneNumber,
  Text,
} from '#shared/api/common.ts';
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
  name: Text(1, 200),
  format: OneOf(
    foreignFormats,
    'openai: a chat completion with the whole conversation; form: the declared body for each message; stream: a bot behind a WebSocket; realtime: a model that hears and speaks; call: whoever answers a telephone',
  ),
  url: Given(
    Text(
      1,
      2000,
      'Of openai and form: https, gets a POST for each message; of stream: wss, the stream_url of the bot',
    ),
  ),
  model: Given(Text(1, 200, 'Of openai')),
  body: Given(
    Type.Unsafe<Record<string, unknown>>({
      ...Open(),
      description:
        'Of form: JSON in which {{message}} and {{conversation_id}} are replaced in texts, and the text {{history}} by the list of messages before',
    }),
  ),
  reply: Given(Pointer("Of form: JSON Pointer to the agent's words")),
  ended: Given(Pointer('Of form: JSON Pointer to a value that is true at the end')),
  speaks_first: Optional(
    Type.Boolean({ description: 'Of form: the first request has an empty message. Default: false' }),
  ),
  timeout_ms: Optional(Integer(1000, 60_000, 'Of openai and form: for an answer; default: 30000')),
  connection: Given(Text(1, 64, 'Of realtime: name of a connection of the organization')),
  instructions: Given(Text(1, 20_000, 'Of realtime: what the model is told')),
  from: Given(PhoneNumber()),
  to: Given(Text(1, 300, 'Of call: E.164, an extension, or a SIP URI, called over the trunks of from')),
  calls_per_minute: Optional(Integer(1, 60, 'Of call: the most calls to it in a minute; default: 6')),
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
            description: 'Left out: as stored, if the host, or to, stays the same',
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
  format: OneOf(foreignFormats),
  url: Nullable(text),
  model: Nullable(text),
  body: Nullable(Open()),
  reply: Nullable(text),
  ended: Nullable(text),
  speaks_first: Type.Boolean(),
  timeout_ms: Type.Integer(),
  connection: Nullable(text),
  instructions: Nullable(text),
  from: Nullable(text),
  to: Nullable(text),
  calls_per_minute: Nullable(Type.Integer()),
  proven_at: Nullable({ ...Iso(), description: 'Of call: since when it may be called' }),
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

/** A call that says and keys a code to the one who answers. */
export const OwnershipCall = Testing({
  expires_at: { ...Iso(), description: 'Until when the code is accepted' },
});
export const OwnershipCode = Closed({ code: Type.String({ pattern: '^[0-9]{6}$', examples: ['471102'] }) });
