/** Tools and the integrations that they use (contract 8). */
import { type Static, Type } from 'typebox';
import {
  BooleanOrText,
  Closed,
  Integer,
  Iso,
  List,
  ListItem,
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
  context: Type.Optional(Text(0, 1000)),
});
export type ResponseData = Static<typeof ResponseData>;

const fields = {
  name: Text(1, 128),
  description: Text(1, 5000),
  integration: Type.String({ examples: ['rest_api'] }),
  action: Type.String({ examples: ['request'] }),
  /** Validated by the rules of contract 8.1, with its own error code. */
  input_schema: Type.Optional(Nullable(Free())),
  body: Type.Optional(Nullable(Type.Union([Text(0, 20_000), Open()]))),
  speech: Type.Optional(Nullable(Text(0, 1000))),
  timeout: Type.Optional(Type.Number({ minimum: 1000, maximum: 60_000 })),
  cache: Type.Optional(BooleanOrText()),
  response_data: Type.Optional(Nullable(List(ResponseData, 0, 50))),
  max_retries: Type.Optional(Integer(0, 4)),
  cooldown: Type.Optional(Type.Number({ minimum: 1, maximum: 30 })),
  resource_id: Type.Optional(Nullable(Uuid())),
  public: Type.Optional(Type.Boolean()),
  label: Type.Optional(Nullable(Text(0, 200))),
};

export const ToolCreate = Closed(fields);
export type ToolCreate = Static<typeof ToolCreate>;

export const ToolUpdate = Type.Partial(ToolCreate, { additionalProperties: false });
export type ToolUpdate = Static<typeof ToolUpdate>;

const toolFields = {
  id: Type.String({ examples: ['TL-00000000-0000-4000-8000-000000000000'] }),
  name: Type.String(),
  description: Type.String(),
  integration: Type.String(),
  action: Type.String(),
  input_schema: Nullable(Free()),
  body: Nullable(Type.Union([Type.String(), Free()])),
  speech: Nullable(Type.String()),
  timeout: Type.Number(),
  cache: Type.Boolean(),
  response_data: Nullable(Type.Array(ResponseData, { maxItems: 50 })),
  max_retries: Type.Integer(),
  cooldown: Type.Number(),
  resource_id: Nullable(Type.String()),
  public: Type.Boolean(),
  label: Nullable(Type.String()),
  is_active: Type.Boolean(),
  is_draft: Type.Boolean(),
  created_at: Iso(),
  updated_at: Iso(),
};
export const Tool = Type.Object(toolFields);
export type Tool = Static<typeof Tool>;

/** Success body of the tools group. */
const Done = <T extends Parameters<typeof Type.Object>[0]>(data: T) =>
  Type.Object({ status: Type.Literal('success'), data: Type.Object(data), errors: Type.Null() });

const Pagination = Type.Object({
  page: Type.Integer(),
  limit: Type.Integer(),
  hasMore: Type.Boolean(),
  nextPage: Nullable(Type.Integer()),
});

export const ToolPath = PathId('id', 'with or without the prefix `TL-`');
export const ToolChanged = Done({ id: Type.String() });
export const ToolRead = Type.Object({ status: Type.Literal('success'), data: Tool, errors: Type.Null() });
export const ToolList = Done({ tools: Type.Array(ListItem(toolFields)), pagination: Pagination });
export const ToolDeleted = Done({ id: Type.String(), deleted: Type.Literal(true) });

export const ToolQuery = Type.Object({
  page: Type.Optional(Integer(1, 1_000_000)),
  limit: Type.Optional(Integer(1, 1000)),
  search: Type.Optional(Text(0, 200, 'part of the name or description')),
  orderBy: Type.Optional(OneOf(['created_at'])),
  orderDirection: Type.Optional(OneOf(['asc', 'desc'])),
});

export const ToolRunOrder = Closed({ inputs: Type.Optional(Open()), variables: Type.Optional(Open()) });
export const ToolRunResult = Done({
  success: Type.Boolean(),
  statusCode: Nullable(Type.Integer()),
  data: Type.Unknown(),
  responseTime: Type.Integer(),
  variables: Free(),
  error: Nullable(Type.String()),
  request: Nullable(
    Type.Object(
      {
        method: Type.String(),
        url: Type.String(),
        headers: Type.Record(Type.String(), Type.String()),
        body: Nullable(Type.String()),
        cut: Type.Boolean({ description: 'A part of more than 20,000 characters is not shown as a whole' }),
      },
      { description: 'What was sent, with credentials of the resource masked; null: no HTTP request' },
    ),
  ),
});

export const ToolLogQuery = Type.Object({
  page: Type.Optional(Integer(1, 1_000_000)),
  limit: Type.Optional(Integer(1, 100)),
});
const ToolLog = Type.Object({
  id: Type.String(),
  started_at: Iso(),
  source: Type.String({ description: 'api, call, chat, widget or test' }),
  conversation_id: Nullable(Type.String()),
  success: Type.Boolean(),
  cached: Type.Boolean(),
  status_code: Nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  attempts: Type.Integer(),
  error: Nullable(Type.String()),
});
export type ToolLog = Static<typeof ToolLog>;
export const ToolLogs = Done({ logs: Type.Array(ToolLog), pagination: Pagination });

export const IntegrationPath = PathId('integration', 'key of the integration');
export const ResourcePath = Type.Object({
  integration: Type.String({ description: 'key of the integration' }),
  resource_id: Type.String({ description: 'id of the connected resource' }),
});
const Resource = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('inactive')]),
});
export type Resource = Static<typeof Resource>;
export const ActionList = Plain(
  Type.Object({
    actions: Type.Array(
      Type.Object({
        key: Type.String(),
        name: Type.String(),
        description: Type.String(),
        input_schema: Free(),
      }),
    ),
  }),
);
export const ResourceList = Plain(Type.Object({ resources: Type.Array(Resource) }));

export const ResourceQuery = PageQuery(500, 200);
/** Credentials are replaced as a whole; new ones activate an inactive resource. */
export const ResourceUpdate = Closed({
  name: Type.Optional(Text(1, 200)),
  credentials: Type.Optional(Open()),
});
export const ResourceCreate = Closed({ name: Text(1, 200), credentials: Open() });
export const ResourceOne = Plain(Type.Object({ resource: Resource }));
export const ResourceDeleted = Plain(Type.Object({ deleted: Type.Literal(true) }));

/** Request of an edge during a call (`POST /v1/edge/tool-runs`). */
export const EdgeToolRun = Closed({
  org_id: Uuid(),
  call_id: Text(1, 128),
  /** with or without the prefix */
  tool_id: Text(1, 64),
  inputs: Type.Unknown(),
  variables: Open(),
});
export type EdgeToolRun = Static<typeof EdgeToolRun>;

/** Same as ToolResult of shared/agent. */
export const EdgeToolResult = Type.Object({
  ok: Type.Boolean(),
  data: Type.Unknown(),
  error: Nullable(Type.String()),
  variables: Free(),
});
export type EdgeToolResult = Static<typeof EdgeToolResult>;
