/** Several scenarios run together, once or many times (contract 6.6 and 6.7). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Iso, List, Nullable, OneOf, PageQuery, PathId, Uuid } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { Interval } from './analytics.ts';
import { RunLine, starting, triggerSources } from './runs.ts';
import { subject } from './scenarios.ts';
import { UsageSum } from './usage.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());
const ScenarioIds = (most: number) => Type.Array(Uuid(), { minItems: 1, maxItems: most, uniqueItems: true });

export const BatchStart = Closed({
  ...starting,
  scenario_ids: described(ScenarioIds(100), 'Scenarios to run, each once'),
});
export type BatchStart = Static<typeof BatchStart>;
export const BatchStarted = Testing({
  batch_id: Type.String({ description: 'Id of the batch' }),
  runs: Type.Array(
    Type.Object({
      run_id: Type.String({ description: 'Id of the run' }),
      scenario_id: Type.String({ description: 'Id of its scenario' }),
    }),
    { description: 'One for each scenario' },
  ),
});

export const groupStatuses = ['PENDING', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED'] as const;
export type GroupStatus = (typeof groupStatuses)[number];

const batchLine = {
  id: Type.String({ description: 'Id of the batch' }),
  status: OneOf(groupStatuses, 'Where it is, or how it ended'),
  total_scenarios: Type.Integer({ description: 'Number of its runs' }),
  passed_scenarios: Type.Integer({ description: 'Runs that passed' }),
  failed_scenarios: Type.Integer({ description: 'Runs that failed, ended with an error or were cancelled' }),
  trigger_source: OneOf(triggerSources, 'What started it; more values may be added'),
  publish_on_pass: Type.Boolean({ description: 'Whether a version is to be published when all passes' }),
  published: Type.Boolean({ description: 'Whether it was published' }),
  version_number: Nullable(Type.Integer(), 'Version that was asked for; null: that in production'),
  created_at: Iso('When it was created'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
};
const batchFields = { ...batchLine, runs: Type.Array(RunLine, { maxItems: 100, description: 'Its runs' }) };
/** Without its runs, which `GET /runs?batch_id=` lists. */
const BatchLine = Type.Object(batchLine);
export type BatchLine = Static<typeof BatchLine>;
export const BatchList = Testing({
  batches: Type.Array(BatchLine, { description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});
export const GroupQuery = PageQuery(100, 50);
export const GroupCancelled = Testing({
  id: Type.String({ description: 'Id of the batch or set' }),
  cancelled_runs: Type.Integer({ description: 'Runs that were cancelled by this request; 0: it had ended' }),
});

export const Batch = Type.Object(batchFields);
export type Batch = Static<typeof Batch>;
export const BatchAnswer = Testing(batchFields);
export const BatchPath = PathId('id', 'Id of the batch');

export const SimulationStart = Closed({
  ...starting,
  ...subject,
  scenario_ids: List(Uuid(), 1, 50, 'Scenarios to run; duplicates count once'),
  simulations_per_scenario: Integer(1, 100, 'Runs of each scenario'),
  pass_threshold: Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Least pass rate of each scenario for PASSED, 0 to 1; default: 0.5',
    }),
  ),
});
export type SimulationStart = Static<typeof SimulationStart>;
export const SimulationStarted = Testing({
  simulation_set_id: Type.String({ description: 'Id of the simulation set' }),
  status: Type.Literal('PENDING', { description: 'Always PENDING' }),
  simulations_per_scenario: Type.Integer({ description: 'Runs of each scenario' }),
  total_scenarios: Type.Integer({ description: 'Number of scenarios' }),
  created_at: Iso('When it was created'),
});

export const ScenarioStatistics = Type.Object({
  scenario_id: Type.String({ description: 'Id of the scenario' }),
  scenario_name: Type.String({ description: 'Name of the scenario' }),
  total_runs: Type.Integer({ description: 'Runs that passed or failed' }),
  passed: Type.Integer({ description: 'Runs that passed' }),
  failed: Type.Integer({ description: 'Runs that failed' }),
  errored: Type.Integer({ description: 'Runs that ended with an error' }),
  cancelled: Type.Integer({ description: 'Runs that were cancelled' }),
  pass_rate: described(Share, 'Share of `total_runs` that passed, 0 to 1; null: none yet'),
  distinct_conversations: Type.Integer({
    description: 'Runs with the same words at the same nodes count once',
  }),
  pass_rate_interval: Nullable(
    Interval,
    'Wilson interval of the pass rate, 95 %, over distinct conversations; null: fewer than two',
  ),
  pass_rate_note: Nullable(Type.String({ description: 'Why there is no interval; null: there is one' })),
  is_flaky: Type.Boolean({ description: 'Whether some of its runs passed and some failed' }),
  flakiness: described(
    Share,
    'Entropy of the results in bits: 0, all alike, to 1, half and half; null: no runs',
  ),
  scores: Type.Object(
    {
      mean: described(Share, 'Mean; null: no scores'),
      median: described(Share, 'Median; null: no scores'),
      stddev: described(Share, 'Standard deviation of a sample; null: no scores'),
      min: described(Share, 'Lowest; null: no scores'),
      max: described(Share, 'Highest; null: no scores'),
    },
    { description: 'Over the overall scores of the runs that passed or failed' },
  ),
  worst_run_id: Nullable(text, 'Run with the lowest score; null: no runs'),
  common_failure_modes: Type.Array(text, {
    maxItems: 5,
    description: 'Which assertions did not pass, and in how many of the failed runs; the most frequent first',
  }),
  confidence: OneOf(
    ['low', 'medium', 'high'],
    'By the number of distinct conversations: below 5, below 20, more',
  ),
  usage: described(UsageSum, 'Tokens and cost of its ended runs'),
});
export type ScenarioStatistics = Static<typeof ScenarioStatistics>;

const OverallStatistics = Type.Object({
  avg_pass_rate: described(Share, 'Mean of the pass rates of the scenarios; null: no runs'),
  flaky_count: Type.Integer({ description: 'Scenarios of which some runs passed and some failed' }),
  reliable_count: Type.Integer({ description: 'Scenarios of which all runs passed' }),
  total_runs: Type.Integer({ description: 'Runs that passed or failed' }),
  errored: Type.Integer({ description: 'Runs that ended with an error' }),
  usage: described(UsageSum, 'Tokens and cost of all ended runs'),
});
export type OverallStatistics = Static<typeof OverallStatistics>;

const setFields = {
  id: Type.String({ description: 'Id of the simulation set' }),
  status: OneOf(groupStatuses, 'Where it is, or how it ended'),
  simulations_per_scenario: Type.Integer({ description: 'Runs of each scenario' }),
  total_scenarios: Type.Integer({ description: 'Number of scenarios' }),
  pass_threshold: Type.Number({ description: 'Least pass rate of each scenario for PASSED, 0 to 1' }),
  statistics: Type.Object(
    {
      per_scenario: Type.Record(text, ScenarioStatistics, { description: 'By the id of the scenario' }),
      overall: described(OverallStatistics, 'Of all scenarios'),
    },
    { description: 'Of the runs that have ended so far' },
  ),
  created_at: Iso('When it was created'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
};
export const SimulationSet = Type.Object(setFields);
export const SimulationAnswer = Testing(setFields);
const SimulationLine = Type.Object({
  id: Type.String({ description: 'Id of the simulation set' }),
  status: OneOf(groupStatuses, 'Where it is, or how it ended'),
  simulations_per_scenario: Type.Integer({ description: 'Runs of each scenario' }),
  total_scenarios: Type.Integer({ description: 'Number of scenarios' }),
  pass_threshold: Type.Number({ description: 'Least pass rate of each scenario for PASSED, 0 to 1' }),
  created_at: Iso('When it was created'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
});
export type SimulationLine = Static<typeof SimulationLine>;
/** Without statistics, which are available per set under its id. */
export const SimulationList = Testing({
  simulation_sets: Type.Array(SimulationLine, { description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});
export const SimulationPath = PathId('id', 'Id of the simulation set');
