/** Tornado: run, fix a fork, run again (contract 6.8). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  ListItem,
  Nullable,
  OneOf,
  PageQuery,
  PathId,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { starting } from './runs.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

export const tornadoStatuses = [
  'RUNNING',
  'COMPLETED_ALL_PASSED',
  'COMPLETED_PARTIAL',
  'STUCK',
  'TIMEOUT',
  'ERROR',
  'CANCELLED',
] as const;
export type TornadoStatus = (typeof tornadoStatuses)[number];

export const TornadoStart = Closed({
  ...starting,
  pathway_id: Uuid(),
  persona_id: Optional(Uuid('Stored and echoed only')),
  scenario_ids: Optional(Type.Array(Uuid(), { minItems: 1, maxItems: 50, uniqueItems: true })),
  max_iterations: Optional(Integer(1, 20, 'Default: 5')),
  timeout_ms: Optional(Integer(60_000, 3_600_000, 'Default: 900000')),
});
export type TornadoStart = Static<typeof TornadoStart>;
export const TornadoStarted = Testing({
  session_id: text,
  status: Type.Literal('RUNNING'),
  pathway_id: text,
  max_iterations: Type.Integer(),
  timeout_ms: Type.Integer(),
  created_at: Iso(),
});

export const ActiveQuery = Type.Object({ pathway_id: Optional(Uuid()), persona_id: Optional(Uuid()) });
export const ActiveTornado = Testing({
  session_id: text,
  status: Type.Literal('RUNNING'),
  pathway_id: text,
  persona_id: Nullable(text),
  current_iteration: Type.Integer(),
  max_iterations: Type.Integer(),
  total_scenarios: Type.Integer(),
  passed_scenarios: Type.Integer(),
  failed_scenarios: Type.Integer(),
  created_at: Iso(),
});

const fix = {
  id: text,
  target_node: Nullable(text),
  description: text,
  type: OneOf(['prompt_edit', 'config_change', 'flow_change']),
};

const FixPlan = Type.Object({
  fixes: Type.Array(
    Type.Object({
      ...fix,
      status: OneOf(['applied', 'reverted', 'skipped']),
    }),
  ),
  priority_order: Type.Array(text),
});
export type FixPlan = Static<typeof FixPlan>;

const Difference = Type.Object({
  op: OneOf(['added', 'removed', 'changed']),
  path: Type.String({ description: 'From the graph, such as nodes/greet/data/text' }),
  before: Type.Unknown(),
  after: Type.Unknown(),
});

const keptFix = {
  ...fix,
  scenario_ids: Type.Array(text, { maxItems: 50, description: 'The scenarios that it was made for' }),
  diff: Type.Array(Difference, { description: 'What it changes, after those before it' }),
};
const KeptFixView = Type.Object(keptFix);
export type KeptFixView = Static<typeof KeptFixView>;

const HeldOut = Nullable(
  Type.Object(
    { variants: Type.Integer(), passed: Type.Integer() },
    { description: 'Variants of scenarios, unknown to the fixes, on which the version was tried' },
  ),
);

const iterationFields = {
  iteration: Type.Integer(),
  batch_id: text,
  started_at: Iso(),
  completed_at: Nullable(Iso()),
  version_number: Type.Integer(),
  passed_ids: Type.Array(text, { maxItems: 50 }),
  failed_ids: Type.Array(text, { maxItems: 50 }),
  newly_unfixable_ids: Type.Array(text, { maxItems: 50 }),
  avg_score: Nullable(Type.Number()),
  held_out: HeldOut,
  fix_plan: Nullable(FixPlan),
  prompt_excerpt: Nullable(text),
  diff: Nullable(
    Type.Array(Difference, { description: 'What the plan alters of the best version until then' }),
  ),
};
const Iteration = Type.Object(iterationFields);
export type Iteration = Static<typeof Iteration>;

const statusFields = {
  session_id: text,
  status: OneOf(tornadoStatuses),
  pathway_id: text,
  persona_id: Nullable(text),
  base_version: Type.Integer(),
  current_iteration: Type.Integer(),
  max_iterations: Type.Integer(),
  total_scenarios: Type.Integer(),
  passed_scenarios: Type.Integer(),
  failed_scenarios: Type.Integer(),
  unfixable_count: Type.Integer(),
  unfixable_ids: Type.Array(text, { maxItems: 50 }),
  iterations: Type.Array(ListItem(iterationFields), { maxItems: 20 }),
  elapsed_ms: Type.Integer(),
  timeout_ms: Type.Integer(),
  forked_version: Nullable(Type.Integer()),
  fixes: Type.Array(ListItem(keptFix), {
    description: 'Of forked_version over the base, in order of application; none until the end',
  }),
  held_out: HeldOut,
  error_message: Nullable(text),
  created_at: Iso(),
  completed_at: Nullable(Iso()),
};
/** In a list: without its iterations. */
const TornadoLine = Type.Object({
  session_id: text,
  status: OneOf(tornadoStatuses),
  pathway_id: text,
  persona_id: Nullable(text),
  current_iteration: Type.Integer(),
  max_iterations: Type.Integer(),
  total_scenarios: Type.Integer(),
  passed_scenarios: Type.Integer(),
  failed_scenarios: Type.Integer(),
  forked_version: Nullable(Type.Integer()),
  created_at: Iso(),
  completed_at: Nullable(Iso()),
});
export const TornadoList = Testing({ sessions: Type.Array(TornadoLine), total_count: Type.Integer() });
export const TornadoQuery = Type.Object({
  pathway_id: Optional(Uuid()),
  ...PageQuery(100, 50).properties,
});

const TornadoStatusView = Type.Object(statusFields);
export type TornadoStatusView = Static<typeof TornadoStatusView>;
export const TornadoAnswer = Testing(statusFields);
export const TornadoPath = PathId('id', 'Id of the session');

export const TornadoAccept = Closed({
  fix_ids: Type.Array(Text(1, 20), { minItems: 1, maxItems: 500, uniqueItems: true }),
  name: Optional(Text(1, 200)),
});
export type TornadoAccept = Static<typeof TornadoAccept>;
export const TornadoAccepted = Testing({
  pathway_id: text,
  version_number: Type.Integer(),
  name: text,
  created_at: Iso(),
});
export const TornadoCancelled = Testing({ cancelled: Type.Literal(true) });
