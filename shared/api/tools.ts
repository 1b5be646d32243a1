/** Tools and the integrations that they use (contract 8). */
import { type Static, Type } from 'typebox';
import { described } from '#shared/described.ts';
import {
  BooleanOrText,
  Closed,
  Integer,
  Iso,
  List,
  ListItem,
  NoErrors,
  Nullable,
  OneOf,
  Open,
  PageQuery,
  PathId,
  Plain,
  Text,
  Uuid,
} from './common.ts';

/** An object that is validated by a rule instead of the schema. */
const Free = () => Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

const ResponseData = Closed({
  name: Text(1, 128, 'variable that receives the value'),
  data: Text(0, 500, 'JSON path into the response'),
  context: Type.Optional(Text(0, 1000, 'What the value is, for the agent')),
});
export type ResponseData = Static<typeof ResponseData>;

const fields = {
  name: Text(1, 128, 'What the agent sees'),
  description: Text(1, 5000, 'What it does and when to use it, for the agent'),
  integration: Type.String({ examples: ['rest_api'], description: 'Key of the integration' }),
  action: Type.String({ examples: ['request'], description: 'Action of the integration' }),

  input_schema: Type.Optional(Nullable(Free(), 'JSON Schema of the inputs; null: no inputs')),
  body: Type.Optional(
    Nullable(Type.Union([Text(0, 20_000), Open()]), 'Template of what the action gets; null: the inputs'),
  ),
  speech: Type.Optional(Nullable(Text(0, 1000), 'Said while it runs; null: nothing')),
  timeout: Type.Optional(
    Type.Number({
      minimum: 1000,
      maximum: 60_000,
      description: 'Longest time of one attempt, ms; default: 10000',
    }),
  ),
  cache: Type.Optional(
    BooleanOrText('Whether a conversation reuses the result of the same inputs; default: false'),
  ),
  response_data: Type.Optional(
    Nullable(List(ResponseData, 0, 50), 'Values of the answer that become variables; null: none'),
  ),
  max_retries: Type.Optional(
    Integer(0, 4, 'Retries after a network error, a time-out, 429 or 5xx; default: 0'),
  ),
  cooldown: Type.Optional(
    Type.Number({ minimum: 1, maximum: 30, description: 'Time between attempts, s; default: 1' }),
  ),
  resource_id: Type.Optional(Nullable(Uuid(), 'Connected resource whose credentials it uses; null: none')),
  public: Type.Optional(
    Type.Boolean({ description: 'A stored flag; it gives other organizations no access; default: false' }),
  ),
  label: Type.Optional(Nullable(Text(0, 200), 'For people; null: none')),
};

export const ToolCreate = Closed(fields);
export type ToolCreate = Static<typeof ToolCreate>;

export const ToolUpdate = Type.Partial(ToolCreate, { additionalProperties: false });
export type ToolUpdate = Static<typeof ToolUpdate>;

const toolFields = {
  id: Type.String({ examples: ['TL-00000000-0000-4000-8000-000000000000'], description: '`TL-` and a uuid' }),
  name: Type.String({ description: 'What the agent sees' }),
  description: Type.String({ description: 'What it does and when to use it, for the agent' }),
  integration: Type.String({ description: 'Key of the integration' }),
  action: Type.String({ description: 'Action of the integration' }),
  input_schema: Nullable(Free(), 'JSON Schema of the inputs; null: no inputs'),
  body: Nullable(Type.Union([Type.String(), Free()]), 'Template of what the action gets; null: the inputs'),
  speech: Nullable(Type.String(), 'Said while it runs; null: nothing'),
  timeout: Type.Number({ description: 'Longest time of one attempt, ms' }),
  cache: Type.Boolean({ description: 'Whether a conversation reuses the result of the same inputs' }),
  response_data: Nullable(
    Type.Array(ResponseData, { maxItems: 50 }),
    'Values of the answer that become variables; null: none',
  ),
  max_retries: Type.Integer({ description: 'Retries after a network error, a time-out, 429 or 5xx' }),
  cooldown: Type.Number({ description: 'Time between attempts, s' }),
  resource_id: Nullable(Type.String(), 'Connected resource whose credentials it uses; null: none'),
  public: Type.Boolean({ description: 'A stored flag' }),
  label: Nullable(Type.String(), 'For people; null: none'),
  is_active: Type.Boolean({ description: 'Always true' }),
  is_draft: Type.Boolean({ description: 'Always false' }),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
export const Tool = Type.Object(toolFields);
export type Tool = Static<typeof Tool>;

/** Success body of the tools group. */
const Done = <T extends Parameters<typeof Type.Object>[0]>(data: T) =>
  Type.Object({
    status: Type.Literal('success', { description: 'Always success' }),
    data: Type.Object(data, { description: 'The result' }),
    errors: NoErrors(),
  });

const Pagination = Type.Object({
  page: Type.Integer({ description: 'Number of this page' }),
  limit: Type.Integer({ description: 'Most entries of a page' }),
  hasMore: Type.Boolean({ description: 'Whether there is another page' }),
  nextPage: Nullable(Type.Integer(), 'Number of the next page; null: this is the last'),
});

export const ToolPath = PathId('id', 'with or without the prefix `TL-`');
export const ToolChanged = Done({ id: Type.String({ description: 'Id of the tool' }) });
export const ToolRead = Type.Object({
  status: Type.Literal('success', { description: 'Always success' }),
  data: described(Tool, 'The tool'),
  errors: NoErrors(),
});
export const ToolList = Done({
  tools: Type.Array(ListItem(toolFields), { description: 'In the order that was asked for' }),
  pagination: described(Pagination, 'Where this page is'),
});
export const ToolDeleted = Done({
  id: Type.String({ description: 'Id of the tool' }),
  deleted: Type.Literal(true, { description: 'Always true' }),
});

export const ToolQuery = Type.Object({
  page: Type.Optional(Integer(1, 1_000_000, 'Number of the page; default: 1')),
  limit: Type.Optional(Integer(1, 1000, 'Most entries of a page; default: 50')),
  search: Type.Optional(Text(0, 200, 'part of the name or description')),
  orderBy: Type.Optional(OneOf(['created_at'], 'What to order by')),
  orderDirection: Type.Optional(OneOf(['asc', 'desc'], 'Direction of the order; default: desc')),
});

export const ToolRunOrder = Closed({
  inputs: Type.Optional(Open('Inputs of the tool')),
  variables: Type.Optional(Open('Variables of the conversation')),
});
export const ToolRunResult = Done({
  success: Type.Boolean({ description: 'Whether the action succeeded' }),
  statusCode: Nullable(Type.Integer(), 'Status of the answer; null: there was none'),
  data: Type.Unknown({ description: 'Body of the answer' }),
  responseTime: Type.Integer({ description: 'How long it took, ms' }),
  variables: described(Free(), 'Variables that the answer set'),
  error: Nullable(Type.String(), 'What went wrong; null: nothing'),
  request: Nullable(
    Type.Object(
      {
        method: Type.String({ description: 'HTTP method' }),
        url: Type.String({ description: 'URL with its query' }),
        headers: Type.Record(Type.String(), Type.String(), { description: 'Headers by name' }),
        body: Nullable(Type.String(), 'Body; null: none'),
        cut: Type.Boolean({ description: 'A part of more than 20,000 characters is not shown as a whole' }),
      },
      { description: 'What was sent, with credentials of the resource masked; null: no HTTP request' },
    ),
  ),
});

export const ToolLogQuery = Type.Object({
  page: Type.Optional(Integer(1, 1_000_000, 'Number of the page; default: 1')),
  limit: Type.Optional(Integer(1, 100, 'Most entries of a page; default: 50')),
});
const ToolLog = Type.Object({
  id: Type.String({ description: 'Id of the run' }),
  started_at: Iso('When it began'),
  source: Type.String({ description: 'api, call, chat, widget or test' }),
  conversation_id: Nullable(Type.String(), 'Id of the call, chat, thread or run; null: none'),
  success: Type.Boolean({ description: 'Whether the action succeeded' }),
  cached: Type.Boolean({ description: 'Whether the result was reused' }),
  status_code: Nullable(Type.Integer(), 'Status of the answer; null: there was none'),
  duration_ms: Type.Integer({ description: 'How long it took, ms' }),
  attempts: Type.Integer({ description: 'Attempts that were made' }),
  error: Nullable(Type.String(), 'What went wrong; null: nothing'),
});
export type ToolLog = Static<typeof ToolLog>;
export const ToolLogs = Done({
  logs: Type.Array(ToolLog, { description: 'The latest first' }),
  pagination: described(Pagination, 'Where this page is'),
});

export const IntegrationPath = PathId('integration', 'key of the integration');
export const ResourcePath = Type.Object({
  integration: Type.String({ description: 'key of the integration' }),
  resource_id: Type.String({ description: 'id of the connected resource' }),
});
const Resource = Type.Object({
  id: Type.String({ description: 'Id of the resource' }),
  name: Type.String({ description: 'Its name' }),
  status: Type.Union([Type.Literal('active'), Type.Literal('inactive')], {
    description: 'inactive: the target answered 401 three times in a row',
  }),
});
export type Resource = Static<typeof Resource>;
export const ActionList = Plain(
  Type.Object({
    actions: Type.Array(
      Type.Object({
        key: Type.String({ description: 'Key of the action' }),
        name: Type.String({ description: 'Its name' }),
        description: Type.String({ description: 'What it does' }),
        input_schema: described(Free(), 'JSON Schema of its inputs'),
      }),
      { description: 'What the integration can do' },
    ),
  }),
);
export const ResourceList = Plain(
  Type.Object({ resources: Type.Array(Resource, { description: 'Oldest first' }) }),
);

export const ResourceQuery = PageQuery(500, 200);
/** Credentials are replaced as a whole; new ones activate an inactive resource. */
export const ResourceUpdate = Closed({
  name: Type.Optional(Text(1, 200, 'Its name')),
  credentials: Type.Optional(Open('All credentials; replaces them and activates the resource')),
});
export const ResourceCreate = Closed({
  name: Text(1, 200, 'Its name'),
  credentials: Open('Credentials that the integration needs'),
});
export const ResourceOne = Plain(Type.Object({ resource: described(Resource, 'The resource') }));
export const ResourceDeleted = Plain(
  Type.Object({ deleted: Type.Literal(true, { description: 'Always true' }) }),
);

/** Request of an edge during a call (`POST /v1/edge/tool-runs`). */
export const EdgeToolRun = Closed({
  org_id: Uuid('Id of the organization'),
  call_id: Text(1, 128, 'Id of the call'),

  tool_id: Text(1, 64, 'Id of the tool, with or without the prefix'),
  inputs: Type.Unknown({ description: 'Inputs of the tool' }),
  variables: Open('Variables of the call'),
});
export type EdgeToolRun = Static<typeof EdgeToolRun>;

/** Same as ToolResult of shared/agent. */
export const EdgeToolResult = Type.Object({
  ok: Type.Boolean({ description: 'Whether the tool succeeded' }),
  data: Type.Unknown({ description: 'What the agent gets' }),
  error: Nullable(Type.String(), 'What went wrong; null: nothing'),
  variables: described(Free(), 'Variables that the answer set'),
});
export type EdgeToolResult = Static<typeof EdgeToolResult>;
