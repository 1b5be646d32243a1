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
import { described } from '#shared/described.ts';
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
  pathway_id: Uuid('Pathway to improve'),
  persona_id: Optional(Uuid('Stored and echoed only')),
  scenario_ids: Optional(
    Type.Array(Uuid(), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: 'Scenarios to run; default: all enabled ones of the pathway',
    }),
  ),
  max_iterations: Optional(Integer(1, 20, 'Most iterations; default: 5')),
  timeout_ms: Optional(Integer(60_000, 3_600_000, 'Longest time of the session, ms; default: 900000')),
});
export type TornadoStart = Static<typeof TornadoStart>;
export const TornadoStarted = Testing({
  session_id: Type.String({ description: 'Id of the session' }),
  status: Type.Literal('RUNNING', { description: 'Always RUNNING' }),
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  max_iterations: Type.Integer({ description: 'Most iterations' }),
  timeout_ms: Type.Integer({ description: 'Longest time of the session, ms' }),
  created_at: Iso('When it was created'),
});

export const ActiveQuery = Type.Object({
  pathway_id: Optional(Uuid('Session of this pathway; exactly one of the two')),
  persona_id: Optional(Uuid('Session of this persona; exactly one of the two')),
});
export const ActiveTornado = Testing({
  session_id: Type.String({ description: 'Id of the session' }),
  status: Type.Literal('RUNNING', { description: 'Always RUNNING' }),
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  persona_id: Nullable(text, 'Persona that was named at the start; null: none'),
  current_iteration: Type.Integer({ description: 'Number of the iteration that runs' }),
  max_iterations: Type.Integer({ description: 'Most iterations' }),
  total_scenarios: Type.Integer({ description: 'Number of scenarios' }),
  passed_scenarios: Type.Integer({ description: 'Those that passed in the last ended iteration' }),
  failed_scenarios: Type.Integer({ description: 'Those that did not pass in the last ended iteration' }),
  created_at: Iso('When it was created'),
});

const fix = {
  id: Type.String({ description: 'Id of the fix' }),
  target_node: Nullable(text, 'Node that it changes; null: no single one'),
  description: Type.String({ description: 'What it does' }),
  type: OneOf(['prompt_edit', 'config_change', 'flow_change'], 'What kind of change it is'),
};

const FixPlan = Type.Object({
  fixes: Type.Array(
    Type.Object({
      ...fix,
      status: OneOf(
        ['applied', 'reverted', 'skipped'],
        'What became of it; skipped: it conflicts with another one or with the rules of graphs',
      ),
    }),
    { description: 'In the order of planning' },
  ),
  priority_order: Type.Array(text, { description: 'Ids of the fixes, the most important first' }),
});
export type FixPlan = Static<typeof FixPlan>;

const Difference = Type.Object({
  op: OneOf(['added', 'removed', 'changed'], 'What happens at `path`'),
  path: Type.String({ description: 'From the graph, such as nodes/greet/data/text' }),
  before: Type.Unknown({ description: 'Value before; null: it was not there' }),
  after: Type.Unknown({ description: 'Value after; null: it is gone' }),
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
    {
      variants: Type.Integer({ description: 'Held-out variants that were tried' }),
      passed: Type.Integer({ description: 'Those that passed' }),
    },
    { description: 'Variants of scenarios, unknown to the fixes, on which the version was tried' },
  ),
);

const iterationFields = {
  iteration: Type.Integer({ description: 'Number of the iteration, from 1' }),
  batch_id: Type.String({ description: 'Its batch' }),
  started_at: Iso('When it began'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
  version_number: Type.Integer({ description: 'Version that was run' }),
  passed_ids: Type.Array(text, { maxItems: 50, description: 'Scenarios that passed' }),
  failed_ids: Type.Array(text, { maxItems: 50, description: 'Scenarios that did not pass' }),
  newly_unfixable_ids: Type.Array(text, {
    maxItems: 50,
    description: 'Scenarios that count as unfixable from now on',
  }),
  avg_score: Nullable(Type.Number(), 'Mean score, 0 to 1; null: no scores'),
  held_out: described(HeldOut, 'Variants that the version was tried on; null: none'),
  fix_plan: Nullable(FixPlan, 'What is planned after it; null: nothing'),
  prompt_excerpt: Nullable(
    text,
    'First 500 characters of the first prompt that the plan changes; null: none',
  ),
  diff: Nullable(
    Type.Array(Difference, {
      description: 'What the plan alters of the best version until then; null: no plan',
    }),
  ),
};
const Iteration = Type.Object(iterationFields);
export type Iteration = Static<typeof Iteration>;

const statusFields = {
  session_id: Type.String({ description: 'Id of the session' }),
  status: OneOf(tornadoStatuses, 'Where it is, or how it ended'),
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  persona_id: Nullable(text, 'Persona that was named at the start; null: none'),
  base_version: Type.Integer({ description: 'Version from which it began; 0 is the live graph' }),
  current_iteration: Type.Integer({ description: 'Number of the iteration that runs, or ran last' }),
  max_iterations: Type.Integer({ description: 'Most iterations' }),
  total_scenarios: Type.Integer({ description: 'Number of scenarios' }),
  passed_scenarios: Type.Integer({
    description: 'Those that passed in the last ended iteration; at the end, in the best one',
  }),
  failed_scenarios: Type.Integer({ description: 'Those that did not pass' }),
  unfixable_count: Type.Integer({ description: 'Number of unfixable scenarios' }),
  unfixable_ids: Type.Array(text, {
    maxItems: 50,
    description: 'Scenarios that fail in the same way whatever is tried',
  }),
  iterations: Type.Array(ListItem(iterationFields), { maxItems: 20, description: 'In order' }),
  elapsed_ms: Type.Integer({ description: 'Time since the start, ms' }),
  timeout_ms: Type.Integer({ description: 'Longest time of the session, ms' }),
  forked_version: Nullable(Type.Integer(), 'The best fork; null: the base is best, or it has not ended'),
  fixes: Type.Array(ListItem(keptFix), {
    description: 'Of forked_version over the base, in order of application; none until the end',
  }),
  held_out: described(HeldOut, 'Variants that `forked_version` was tried on; null: none'),
  error_message: Nullable(text, 'Why it ended with an error; null: it did not'),
  created_at: Iso('When it was created'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
};
/** In a list: without its iterations. */
const TornadoLine = Type.Object({
  session_id: Type.String({ description: 'Id of the session' }),
  status: OneOf(tornadoStatuses, 'Where it is, or how it ended'),
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  persona_id: Nullable(text, 'Persona that was named at the start; null: none'),
  current_iteration: Type.Integer({ description: 'Number of the iteration that runs, or ran last' }),
  max_iterations: Type.Integer({ description: 'Most iterations' }),
  total_scenarios: Type.Integer({ description: 'Number of scenarios' }),
  passed_scenarios: Type.Integer({ description: 'Those that passed' }),
  failed_scenarios: Type.Integer({ description: 'Those that did not pass' }),
  forked_version: Nullable(Type.Integer(), 'The best fork; null: the base is best, or it has not ended'),
  created_at: Iso('When it was created'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
});
export const TornadoList = Testing({
  sessions: Type.Array(TornadoLine, { description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});
export const TornadoQuery = Type.Object({
  pathway_id: Optional(Uuid('Only sessions of this pathway')),
  ...PageQuery(100, 50).properties,
});

export const TornadoStatusView = Type.Object(statusFields);
export type TornadoStatusView = Static<typeof TornadoStatusView>;
export const TornadoAnswer = Testing(statusFields);
export const TornadoPath = PathId('id', 'Id of the session');

export const TornadoAccept = Closed({
  fix_ids: Type.Array(Text(1, 20), {
    minItems: 1,
    maxItems: 500,
    uniqueItems: true,
    description: 'Fixes to keep; the others are refused',
  }),
  name: Optional(Text(1, 200, 'Name of the new version; default: chosen by the service')),
});
export type TornadoAccept = Static<typeof TornadoAccept>;
export const TornadoAccepted = Testing({
  pathway_id: Type.String({ description: 'Id of the pathway' }),
  version_number: Type.Integer({ description: 'Number of the new version' }),
  name: Type.String({ description: 'Name of the new version' }),
  created_at: Iso('When it was created'),
});
export const TornadoCancelled = Testing({ cancelled: Type.Literal(true, { description: 'Always true' }) });
