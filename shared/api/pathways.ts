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
import { described } from '#shared/described.ts';

const text = Type.String();

/** Open objects; shared/agent validates their content. */
const Nodes = List(Open(), 1, 500);
const Edges = List(Open(), 0, 2000);
const ShownGraph = {
  nodes: Type.Array(Open(), { maxItems: 500, description: 'Nodes of the graph' }),
  edges: Type.Array(Open(), { maxItems: 2000, description: 'Edges of the graph' }),
};

export const PathwayCreate = Closed({
  name: Text(1, 200, 'Name of the pathway'),
  description: Type.Optional(Text(0, 2000, 'What it is for')),
});

/** Of the graph that the sender has read: a later change by another one is not overwritten. */
const ExpectedHash = Type.Optional(
  Type.String({ pattern: '^[0-9a-f]{64}$', description: 'content_hash of the graph that is replaced' }),
);

export const PathwayUpdate = Closed({
  name: Type.Optional(Text(1, 200, 'Name of the pathway')),
  description: Type.Optional(Text(0, 2000, 'What it is for')),
  nodes: Type.Optional(described(Nodes, 'Nodes of the live graph; only together with `edges`')),
  edges: Type.Optional(described(Edges, 'Edges of the live graph; only together with `nodes`')),
  expected_hash: ExpectedHash,
});
export type PathwayUpdate = Static<typeof PathwayUpdate>;

export const VersionWrite = Closed({
  name: Text(1, 200, 'Name of the version'),
  nodes: described(Nodes, 'Nodes of the graph'),
  edges: described(Edges, 'Edges of the graph'),
});
export type VersionWrite = Static<typeof VersionWrite>;
export const VersionReplace = Closed({ ...VersionWrite.properties, expected_hash: ExpectedHash });

const Identity = {
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  name: Type.String({ description: 'Its name' }),
  description: Nullable(text, 'What it is for; null: nothing is said of it'),
};

const pathwayFields = {
  ...Identity,
  ...ShownGraph,
  production_version: Nullable(
    Type.Integer(),
    'Version in production; null: none, so the live graph answers',
  ),
  staging_version: Nullable(Type.Integer(), 'Version in staging; null: none'),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
export const Pathway = Type.Object(pathwayFields);
export type Pathway = Static<typeof Pathway>;

export const PathwayList = Type.Array(ListItem(pathwayFields));
export const PathwayQuery = Type.Object({
  ...PageQuery(500, 500).properties,
  graphs: Type.Optional(Type.Boolean({ description: 'false: without nodes and edges. Default: true' })),
});
export const VersionQuery = PageQuery(500, 200);
export const PathwayCreated = Success({ pathway_id: Type.String({ description: 'Id of the new pathway' }) });
/** Warnings about an accepted graph; may be empty. */
const Warnings = {
  warnings: Type.Array(
    Type.Object({
      path: Type.String({ description: 'Where, as a JSON pointer' }),
      rule: Type.String({ description: 'Kind of the problem' }),
      message: Type.String({ description: 'The problem in a sentence' }),
    }),
    { description: 'Problems that break no rule, 20 at most' },
  ),
};

export const PathwayUpdated = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
  pathway_data: Type.Object({ ...Identity, ...ShownGraph }, { description: 'The live graph as stored' }),
  ...Warnings,
});

export const VersionList = Type.Array(
  Type.Object({
    id: Type.Integer({ description: 'The same as `version_number`' }),
    version_number: Type.Integer({ description: 'Number of the version, from 1' }),
    name: Type.String({ description: 'Name of the version' }),
    created_at: Iso('When it was created'),
    is_latest: Type.Boolean({ description: 'Whether it is the newest' }),
    environments: Type.Array(text, { description: 'Environments in which it is published' }),
    content_hash: Type.String({ description: 'SHA-256 of nodes and edges, hexadecimal' }),
  }),
);
export const VersionCreated = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
  data: Type.Object(
    {
      id: Type.Integer({ description: 'The same as `version_number`' }),
      name: Type.String({ description: 'Its name' }),
      version_number: Type.Integer({ description: 'Its number' }),
      created_at: Iso('When it was created'),
    },
    { description: 'The new version' },
  ),
  ...Warnings,
});
export const VersionUpdated = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
  ...Warnings,
});
export const VersionDeleted = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
});
export const VersionGraph = Type.Object({
  name: Type.String({ description: 'Name of the version' }),
  ...ShownGraph,
  version_number: Type.Integer({ description: 'Its number; 0 is the live graph' }),
  is_latest: Type.Boolean({ description: 'Whether it is the newest' }),
  content_hash: Type.String({ description: 'SHA-256 of nodes and edges, hexadecimal' }),
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
  version_id: Integer(1, 2_147_483_647, 'Number of the version to publish'),
  environment: Type.Optional(
    OneOf(environments, 'Environment in which it is published; default: production'),
  ),
  publish_on_pass: Type.Optional(
    Type.Boolean({
      description:
        'When the gate blocks: publish as soon as the blocking scenarios have passed; default: false',
    }),
  ),
});
export type Publish = Static<typeof Publish>;

const PublishAnswer = {
  message: Type.String({ description: 'Says what happened, for people' }),
  version_id: Type.Integer({ description: 'Number of the version' }),
  environment: OneOf(environments, 'Environment in which it is published'),
};
export const Published = Success(PublishAnswer);
export const PublishPending = Type.Object({
  status: Type.Literal('pending', { description: 'Always pending: the scenarios run first' }),
  ...PublishAnswer,
  batch_id: Type.String({ description: 'Batch of these scenarios' }),
});

/** What keeps a version from production (contract 11.5). */
export const VersionGate = Type.Object({
  version_id: Type.Integer({ description: 'Number of the version' }),
  in_production: Type.Boolean({ description: 'Whether it is in production now' }),
  passed: Type.Boolean({ description: 'Whether it could be published to production now' }),
  blocking: Type.Integer({ description: 'How many scenarios block it' }),
  scenarios: Type.Array(
    Type.Object({
      scenario_id: Type.String({ description: 'Id of the scenario' }),
      name: Type.String({ description: 'Its name' }),
      reason: OneOf(blockingReasons, 'Why it blocks'),
      latest_run_id: Nullable(text, 'Its newest run on this content; null: none'),
      score: Nullable(Type.Number(), 'Overall score of that run; null: none'),
      runs_required: Type.Integer({ description: 'Runs of different seeds that must have passed' }),
      runs_passed: Type.Integer({ description: 'Runs with different seeds that passed' }),
    }),
    { maxItems: 100, description: 'The first 100 that block it' },
  ),
  waiting_batch_id: Nullable({
    ...text,
    description: 'The batch after which it is published if it passes (publish_on_pass); null: none',
  }),
});

export const PathwayPath = PathId('id', 'Id of the pathway');
export const VersionPath = Type.Object({
  id: Type.String({ description: 'Id of the pathway' }),
  version_id: Type.String({ description: 'Version number; 0 is the live graph' }),
});
