/** Several scenarios run together, once or many times (contract 6.6 and 6.7). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Iso, List, Nullable, OneOf, PageQuery, PathId, Uuid } from '#shared/api/common.ts';
import { Interval } from './analytics.ts';
import { RunLine, starting, triggerSources } from './runs.ts';
import { subject } from './scenarios.ts';
import { UsageSum } from './usage.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());
const ScenarioIds = (most: number) => Type.Array(Uuid(), { minItems: 1, maxItems: most, uniqueItems: true });

export const BatchStart = Closed({ ...starting, scenario_ids: ScenarioIds(100) });
export type BatchStart = Static<typeof BatchStart>;
export const BatchStarted = Testing({
  batch_id: text,
  runs: Type.Array(Type.Object({ run_id: text, scenario_id: text })),
});

export const groupStatuses = ['PENDING', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED'] as const;
export type GroupStatus = (typeof groupStatuses)[number];

const batchLine = {
  id: text,
  status: OneOf(groupStatuses),
  total_scenarios: Type.Integer(),
  passed_scenarios: Type.Integer(),
  failed_scenarios: Type.Integer(),
  trigger_source: OneOf(triggerSources),
  publish_on_pass: Type.Boolean(),
  published: Type.Boolean(),
  version_number: Nullable(Type.Integer()),
  created_at: Iso(),
  completed_at: Nullable(Iso()),
};
const batchFields = { ...batchLine, runs: Type.Array(RunLine, { maxItems: 100 }) };
/** Without its runs, which `GET /runs?batch_id=` lists. */
const BatchLine = Type.Object(batchLine);
export type BatchLine = Static<typeof BatchLine>;
export const BatchList = Testing({ batches: Type.Array(BatchLine), total_count: Type.Integer() });
export const GroupQuery = PageQuery(100, 50);
export const GroupCancelled = Testing({ id: text, cancelled_runs: Type.Integer() });

const Batch = Type.Object(batchFields);
export type Batch = Static<typeof Batch>;
export const BatchAnswer = Testing(batchFields);
export const BatchPath = PathId('id', 'Id of the batch');

export const SimulationStart = Closed({
  ...starting,
  ...subject,
  scenario_ids: List(Uuid(), 1, 50),
  simulations_per_scenario: Integer(1, 100),
  pass_threshold: Optional(Type.Number({ minimum: 0, maximum: 1 })),
});
export type SimulationStart = Static<typeof SimulationStart>;
export const SimulationStarted = Testing({
  simulation_set_id: text,
  status: Type.Literal('PENDING'),
  simulations_per_scenario: Type.Integer(),
  total_scenarios: Type.Integer(),
  created_at: Iso(),
});

export const ScenarioStatistics = Type.Object({
  scenario_id: text,
  scenario_name: text,
  total_runs: Type.Integer(),
  passed: Type.Integer(),
  failed: Type.Integer(),
  errored: Type.Integer(),
  cancelled: Type.Integer(),
  pass_rate: Share,
  distinct_conversations: Type.Integer({
    description: 'Runs with the same words at the same nodes count once',
  }),
  pass_rate_interval: Nullable(Interval),
  pass_rate_note: Nullable(Type.String({ description: 'Why there is no interval' })),
  is_flaky: Type.Boolean(),
  flakiness: Share,
  scores: Type.Object({ mean: Share, median: Share, stddev: Share, min: Share, max: Share }),
  worst_run_id: Nullable(text),
  common_failure_modes: Type.Array(text, { maxItems: 5 }),
  confidence: OneOf(['low', 'medium', 'high']),
  usage: UsageSum,
});
export type ScenarioStatistics = Static<typeof ScenarioStatistics>;

const OverallStatistics = Type.Object({
  avg_pass_rate: Share,
  flaky_count: Type.Integer(),
  reliable_count: Type.Integer(),
  total_runs: Type.Integer(),
  errored: Type.Integer(),
  usage: UsageSum,
});
export type OverallStatistics = Static<typeof OverallStatistics>;

export const SimulationAnswer = Testing({
  id: text,
  status: OneOf(groupStatuses),
  simulations_per_scenario: Type.Integer(),
  total_scenarios: Type.Integer(),
  pass_threshold: Type.Number(),
  statistics: Type.Object({
    per_scenario: Type.Record(text, ScenarioStatistics),
    overall: OverallStatistics,
  }),
  created_at: Iso(),
  completed_at: Nullable(Iso()),
});
const SimulationLine = Type.Object({
  id: text,
  status: OneOf(groupStatuses),
  simulations_per_scenario: Type.Integer(),
  total_scenarios: Type.Integer(),
  pass_threshold: Type.Number(),
  created_at: Iso(),
  completed_at: Nullable(Iso()),
});
export type SimulationLine = Static<typeof SimulationLine>;
/** Without statistics, which are available per set under its id. */
export const SimulationList = Testing({
  simulation_sets: Type.Array(SimulationLine),
  total_count: Type.Integer(),
});
export const SimulationPath = PathId('id', 'Id of the simulation set');
