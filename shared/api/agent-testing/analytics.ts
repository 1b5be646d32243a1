/** Analytics of a pathway's runs (contract 6.9 and 6.10). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, Nullable, OmittedParts, OneOf, PageQuery, PathId } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { Testing } from './wrapping.ts';

const text = Type.String();
const Share = Nullable(Type.Number());
export const Interval = Type.Object({
  low: Type.Number({ description: 'Lower bound' }),
  high: Type.Number({ description: 'Upper bound' }),
});

export const AnalyticsPath = PathId('pathwayId', 'Id of the pathway');
export const AnalyticsQuery = Type.Object({
  days: Type.Optional(Integer(1, 365, 'Runs of so many days; default: 30')),
});

const totals = {
  total_runs: Type.Integer({ description: 'Runs that passed or failed' }),
  passed: Type.Integer({ description: 'Runs that passed' }),
  failed: Type.Integer({ description: 'Runs that failed' }),
  errored: Type.Integer({ description: 'Runs that ended with an error' }),
  cancelled: Type.Integer({ description: 'Runs that were cancelled' }),
  pass_rate: described(Share, 'Share of `total_runs` that passed, 0 to 1; null: no runs'),
  distinct_conversations: Type.Integer({
    description: 'Runs in which the same was said at the same nodes count once',
  }),
  pass_rate_interval: Nullable(
    Interval,
    'Wilson interval of the pass rate, 95 %, over distinct conversations; null: fewer than two',
  ),
  pass_rate_note: Nullable(text, 'Why there is no interval; null: there is one'),
  failure_rate: described(Share, 'Share of `total_runs` that failed, 0 to 1; null: no runs'),
  avg_score: described(Share, 'Mean score of all runs that have one, 0 to 1; null: none has'),
};

export const Analytics = Testing({
  ...totals,
  runs: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Id of the run' }),
      scenario_id: Type.String({ description: 'Id of its scenario' }),
      scenario_name: Type.String({ description: 'Name of its scenario' }),
      status: OneOf(['passed', 'failed', 'error', 'cancelled'], 'How it ended'),
      score: described(Share, 'Its overall score, 0 to 1; null: nothing was scored'),
      created_at: Iso('When the run was created'),
    }),
    { description: 'The newest 500 of those that are counted' },
  ),
});

const rate = {
  total_runs: Type.Integer({ description: 'Runs that passed or failed' }),
  passed: Type.Integer({ description: 'Runs that passed' }),
  failed: Type.Integer({ description: 'Runs that failed' }),
  errored: Type.Integer({ description: 'Runs that ended with an error' }),
  pass_rate: described(Share, 'Share of `total_runs` that passed, 0 to 1; null: no runs'),
  distinct_conversations: Type.Integer({
    description: 'Runs in which the same was said at the same nodes count once',
  }),
  pass_rate_interval: Nullable(
    Interval,
    'Wilson interval of the pass rate, 95 %, over distinct conversations; null: fewer than two',
  ),
  pass_rate_note: Nullable({ ...text, description: 'Why there is no interval; null: there is one' }),
};

export const VersionsQuery = Type.Object({
  days: Type.Optional(Integer(1, 365, 'Runs of so many days; default: 30')),
  ...PageQuery(50, 10).properties,
});
const versions = {
  pathway_name: Type.String({ description: 'Name of the pathway' }),
  versions: Type.Array(
    Type.Object({
      version_number: Type.Integer({ description: '0: the live graph, the first of the list' }),
      name: Nullable(text, 'Name of the version; null: the live graph'),
      created_at: Nullable(Iso(), 'When the version was created; null: the live graph'),
      environments: Type.Array(text, { maxItems: 2, description: 'Environments in which it is published' }),
      ...rate,
    }),
    { description: 'The live graph, then the versions, newest first' },
  ),
  total_count: Type.Integer({ description: 'Number of versions, with the live graph' }),
  scenarios: Type.Array(
    Type.Object({
      scenario_id: Type.String({ description: 'Id of the scenario' }),
      scenario_name: Type.String({ description: 'Name of the scenario' }),
      is_required_for_promotion: Type.Boolean({
        description: 'Whether the gate of publishing needs it to pass',
      }),
      enabled: Type.Boolean({ description: 'Whether the gate and tornado use it' }),
      results: Type.Array(
        Type.Object({
          version_number: Type.Integer({ description: 'Number of the version; 0: the live graph' }),
          ...rate,
          is_flaky: Type.Boolean({ description: 'Whether some of its runs passed and some failed' }),
          flakiness: described(
            Share,
            'Entropy of the results in bits: 0, all alike, to 1, half and half; null: no runs',
          ),
        }),
        { maxItems: 50, description: 'By version; only versions with runs' },
      ),
    }),
    {
      maxItems: 100,
      description: 'Scenarios with runs on these versions: required ones first, then those that failed most',
    },
  ),
  counted_runs: Type.Integer({ description: 'Runs that were counted, on any content of the pathway' }),
  omitted: OmittedParts,
};
export const VersionAnalytics = Testing(versions);
const VersionsView = Type.Object(versions);
export type VersionsView = Static<typeof VersionsView>;

const RateCount = Type.Object({
  rate: described(Share, 'Share of the runs that passed, 0 to 1; null: no runs'),
  count: Type.Integer({ description: 'Runs that passed or failed' }),
  distinct_conversations: Type.Integer({
    description: 'Runs in which the same was said at the same nodes count once',
  }),
});
const nodeCategories = ['scenario', 'start', 'middle', 'end', 'outcome'] as const;

const enhanced = {
  ...totals,
  omitted: OmittedParts,
  health_score: described(Share, '0 to 1, from its three components; null: no interval of the pass rate'),
  health_components: Type.Object(
    {
      pass_rate_lower: described(Share, 'Lower bound of the interval of the pass rate; null: no interval'),
      avg_score: described(Share, 'Mean score, 0 to 1; null: no score'),
      reliability: described(Share, 'As `reliability_score`; null: no runs'),
    },
    { description: 'What `health_score` is made of' },
  ),
  reliability_score: described(
    Share,
    'Chance that three runs of a scenario drawn at random all passed, as a mean over scenarios; null: no runs',
  ),
  reliability_components: Type.Array(
    Type.Object({
      scenario_id: Type.String({ description: 'Id of the scenario' }),
      n: Type.Integer({ description: 'Runs that passed or failed' }),
      c: Type.Integer({ description: 'Runs that passed' }),
      value: Type.Number({ description: 'Chance that three of them drawn at random all passed' }),
    }),
    { description: 'By scenario' },
  ),
  trend: Type.Object(
    {
      weekly: OneOf(['improving', 'declining', 'stable'], 'Whether the difference is certain'),
      recent: described(RateCount, 'The last 7 days'),
      prior: described(RateCount, 'The 7 days before'),
      delta: described(Share, 'Pass rate now minus before; null: no runs in one of them'),
      interval: Nullable(Interval, 'Newcombe interval of the difference, 95 %; null: no runs in one of them'),
      daily_pass_rates: Type.Array(
        Type.Object({
          date: Type.String({ description: 'Day in UTC, `YYYY-MM-DD`' }),
          rate: Type.Number({ description: 'Share of the runs of that day that passed, 0 to 1' }),
          count: Type.Integer({ description: 'Runs of that day that passed or failed' }),
        }),
        { description: 'One entry for each UTC day with runs, oldest first' },
      ),
    },
    { description: 'The last 7 days against the 7 before' },
  ),
  node_failure_heatmap: Type.Array(
    Type.Object({
      node_id: Type.String({ description: 'Id of the node' }),
      node_name: Type.String({ description: 'Name of the node, or its id when the node is gone' }),
      failure_count: Type.Integer({ description: 'Runs that failed at this node' }),
      total_traversals: Type.Integer({ description: 'Runs that visited the node or failed at it' }),
      failure_rate: Type.Number({ description: '`failure_count` of `total_traversals`, 0 to 1' }),
    }),
    { description: 'Nodes at which runs failed, the highest rate first' },
  ),
  weakest_link: Nullable(
    Type.Object({
      node_id: Type.String({ description: 'Id of the node' }),
      node_name: Type.String({ description: 'Name of the node' }),
      failure_rate: Type.Number({ description: 'Its failure rate, 0 to 1' }),
    }),
    'The worst node with at least 5 traversals and 1 failure; null: there is none',
  ),
  sankey_data: Type.Object(
    {
      nodes: Type.Array(
        Type.Object({
          id: Type.String({
            description: '`scenario:<id>`, `node:<id>`, `outcome:passed` or `outcome:failed`',
          }),
          name: Type.String({ description: 'What to show' }),
          type: Type.String({ description: 'Type of the node; `deleted`: it no longer exists' }),
          category: OneOf(nodeCategories, 'Its place in the diagram'),
        }),
        { description: 'Scenarios, nodes and outcomes' },
      ),
      links: Type.Array(
        Type.Object({
          source: Type.String({ description: 'Id at which the step begins' }),
          target: Type.String({ description: 'Id at which it ends' }),
          value: Type.Integer({ description: 'Runs that took this step' }),
          pass_count: Type.Integer({ description: 'Those of them that passed' }),
          fail_count: Type.Integer({ description: 'Those of them that failed' }),
        }),
        { description: 'Steps from one to the next' },
      ),
    },
    { description: 'The ways of all runs, for a Sankey diagram' },
  ),
};

export const EnhancedAnalytics = Testing(enhanced);
const EnhancedView = Type.Object(enhanced);
export type EnhancedView = Static<typeof EnhancedView>;
