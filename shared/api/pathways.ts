/** Pathways and their versions (contract section 11). */
import { type Static, Type } from 'typebox';
import {
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
  Success,
  Text,
} from '#shared/api/common.ts';

const text = Type.String();

/** Open objects; shared/agent validates their content. */
const Nodes = List(Open(), 1, 500);
const Edges = List(Open(), 0, 2000);
const ShownGraph = {
  nodes: Type.Array(Open(), { maxItems: 500 }),
  edges: Type.Array(Open(), { maxItems: 2000 }),
};

export const PathwayCreate = Closed({
  name: Text(1, 200),
  description: Type.Optional(Text(0, 2000)),
});

/** Of the graph that the sender has read: a later change by another one is not overwritten. */
const ExpectedHash = Type.Optional(
  Type.String({ pattern: '^[0-9a-f]{64}$', description: 'content_hash of the graph that is replaced' }),
);

export const PathwayUpdate = Closed({
  name: Type.Optional(Text(1, 200)),
  description: Type.Optional(Text(0, 2000)),
  nodes: Type.Optional(Nodes),
  edges: Type.Optional(Edges),
  expected_hash: ExpectedHash,
});
export type PathwayUpdate = Static<typeof PathwayUpdate>;

export const VersionWrite = Closed({ name: Text(1, 200), nodes: Nodes, edges: Edges });
export type VersionWrite = Static<typeof VersionWrite>;
export const VersionReplace = Closed({ ...VersionWrite.properties, expected_hash: ExpectedHash });

const Identity = { pathway_id: text, name: text, description: Nullable(text) };

const pathwayFields = {
  ...Identity,
  ...ShownGraph,
  production_version: Nullable(Type.Integer()),
  staging_version: Nullable(Type.Integer()),
  created_at: Iso(),
  updated_at: Iso(),
};
export const Pathway = Type.Object(pathwayFields);
export type Pathway = Static<typeof Pathway>;

export const PathwayList = Type.Array(ListItem(pathwayFields));
export const PathwayQuery = Type.Object({
  ...PageQuery(500, 500).properties,
  graphs: Type.Optional(Type.Boolean({ description: 'false: without nodes and edges. Default: true' })),
});
export const VersionQuery = PageQuery(500, 200);
export const PathwayCreated = Success({ pathway_id: text });
/** Warnings about an accepted graph; may be empty. */
const Warnings = {
  warnings: Type.Array(Type.Object({ path: text, rule: text, message: text })),
};

export const PathwayUpdated = Success({
  message: text,
  pathway_data: Type.Object({ ...Identity, ...ShownGraph }),
  ...Warnings,
});

export const VersionList = Type.Array(
  Type.Object({
    id: Type.Integer(),
    version_number: Type.Integer(),
    name: text,
    created_at: Iso(),
    is_latest: Type.Boolean(),
    environments: Type.Array(text),
    content_hash: text,
  }),
);
export const VersionCreated = Success({
  message: text,
  data: Type.Object({ id: Type.Integer(), name: text, version_number: Type.Integer(), created_at: Iso() }),
  ...Warnings,
});
export const VersionUpdated = Success({ message: text, ...Warnings });
export const VersionDeleted = Success({ message: text });
export const VersionGraph = Type.Object({
  name: text,
  ...ShownGraph,
  version_number: Type.Integer(),
  is_latest: Type.Boolean(),
  content_hash: text,
});

const environments = ['production', 'staging'] as const;
/** Why a required scenario blocks a version (contract 6.11). */
export const blockingReasons = [
  'NO_RUN',
  'RUN_IN_PROGRESS',
  'RUN_FAILED',
  'RUN_ERROR',
  'RUN_CANCELLED',
  'SCENARIO_CHANGED',
  'TOO_FEW_RUNS',
] as const;

export const Publish = Closed({
  version_id: Integer(1, 2_147_483_647),
  environment: Type.Optional(OneOf(environments, 'Default: production')),
  publish_on_pass: Type.Optional(Type.Boolean()),
});
export type Publish = Static<typeof Publish>;

const PublishAnswer = {
  message: text,
  version_id: Type.Integer(),
  environment: OneOf(environments),
};
export const Published = Success(PublishAnswer);
export const PublishPending = Type.Object({
  status: Type.Literal('pending'),
  ...PublishAnswer,
  batch_id: text,
});

/** What keeps a version from production (contract 11.5). */
export const VersionGate = Type.Object({
  version_id: Type.Integer(),
  in_production: Type.Boolean(),
  passed: Type.Boolean({ description: 'Whether it could be published to production now' }),
  blocking: Type.Integer({ description: 'How many scenarios block it' }),
  scenarios: Type.Array(
    Type.Object({
      scenario_id: text,
      name: text,
      reason: OneOf(blockingReasons),
      latest_run_id: Nullable(text),
      score: Nullable(Type.Number()),
      runs_required: Type.Integer({ description: 'Runs of different seeds that must have passed' }),
      runs_passed: Type.Integer(),
    }),
    { maxItems: 100, description: 'The first 100 that block it' },
  ),
  waiting_batch_id: Nullable({
    ...text,
    description: 'The batch after which it is published if it passes (publish_on_pass)',
  }),
});

export const PathwayPath = PathId('id', 'Id of the pathway');
export const VersionPath = Type.Object({
  id: Type.String({ description: 'Id of the pathway' }),
  version_id: Type.String({ description: 'Version number; 0 is the live graph' }),
});
