/** Analytics of a pathway's runs (contract 6.9 and 6.10). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, Nullable, OmittedParts, OneOf, PageQuery, PathId } from '#shared/api/common.ts';
import { Testing } from './wrapping.ts';

const text = Type.String();
const Share = Nullable(Type.Number());
export const Interval = Type.Object({ low: Type.Number(), high: Type.Number() });

export const AnalyticsPath = PathId('pathwayId', 'Id of the pathway');
export const AnalyticsQuery = Type.Object({ days: Type.Optional(Integer(1, 365, 'Default: 30')) });

const totals = {
  total_runs: Type.Integer(),
  passed: Type.Integer(),
  failed: Type.Integer(),
  errored: Type.Integer(),
  cancelled: Type.Integer(),
  pass_rate: Share,
  distinct_conversations: Type.Integer(),
  pass_rate_interval: Nullable(Interval),
  pass_rate_note: Nullable(text),
  failure_rate: Share,
  avg_score: Share,
};

export const Analytics = Testing({
  ...totals,
  runs: Type.Array(
    Type.Object({
      id: text,
      scenario_id: text,
      scenario_name: text,
      status: OneOf(['passed', 'failed', 'error', 'cancelled']),
      score: Share,
      created_at: Iso(),
    }),
  ),
});

const rate = {
  total_runs: Type.Integer({ description: 'passed + failed' }),
  passed: Type.Integer(),
  failed: Type.Integer(),
  errored: Type.Integer(),
  pass_rate: Share,
  distinct_conversations: Type.Integer(),
  pass_rate_interval: Nullable(Interval),
  pass_rate_note: Nullable({ ...text, description: 'Why there is no interval' }),
};

export const VersionsQuery = Type.Object({
  days: Type.Optional(Integer(1, 365, 'Default: 30')),
  ...PageQuery(50, 10).properties,
});
const versions = {
  pathway_name: text,
  versions: Type.Array(
    Type.Object({
      version_number: Type.Integer({ description: '0: the live graph, the first of the list' }),
      name: Nullable(text),
      created_at: Nullable(Iso()),
      environments: Type.Array(text, { maxItems: 2 }),
      ...rate,
    }),
  ),
  total_count: Type.Integer(),
  scenarios: Type.Array(
    Type.Object({
      scenario_id: text,
      scenario_name: text,
      is_required_for_promotion: Type.Boolean(),
      enabled: Type.Boolean(),
      results: Type.Array(
        Type.Object({
          version_number: Type.Integer(),
          ...rate,
          is_flaky: Type.Boolean(),
          flakiness: Share,
        }),
        { maxItems: 50 },
      ),
    }),
    { maxItems: 100 },
  ),
  counted_runs: Type.Integer({ description: 'Runs that were counted, on any content of the pathway' }),
  omitted: OmittedParts,
};
export const VersionAnalytics = Testing(versions);
const VersionsView = Type.Object(versions);
export type VersionsView = Static<typeof VersionsView>;

const RateCount = Type.Object({
  rate: Share,
  count: Type.Integer(),
  distinct_conversations: Type.Integer(),
});
const nodeCategories = ['scenario', 'start', 'middle', 'end', 'outcome'] as const;

const enhanced = {
  ...totals,
  omitted: OmittedParts,
  health_score: Share,
  health_components: Type.Object({ pass_rate_lower: Share, avg_score: Share, reliability: Share }),
  reliability_score: Share,
  reliability_components: Type.Array(
    Type.Object({ scenario_id: text, n: Type.Integer(), c: Type.Integer(), value: Type.Number() }),
  ),
  trend: Type.Object({
    weekly: OneOf(['improving', 'declining', 'stable']),
    recent: RateCount,
    prior: RateCount,
    delta: Share,
    interval: Nullable(Interval),
    daily_pass_rates: Type.Array(Type.Object({ date: text, rate: Type.Number(), count: Type.Integer() })),
  }),
  node_failure_heatmap: Type.Array(
    Type.Object({
      node_id: text,
      node_name: text,
      failure_count: Type.Integer(),
      total_traversals: Type.Integer(),
      failure_rate: Type.Number(),
    }),
  ),
  weakest_link: Nullable(Type.Object({ node_id: text, node_name: text, failure_rate: Type.Number() })),
  sankey_data: Type.Object({
    nodes: Type.Array(Type.Object({ id: text, name: text, type: text, category: OneOf(nodeCategories) })),
    links: Type.Array(
      Type.Object({
        source: text,
        target: text,
        value: Type.Integer(),
        pass_count: Type.Integer(),
        fail_count: Type.Integer(),
      }),
    ),
  }),
};

export const EnhancedAnalytics = Testing(enhanced);
const EnhancedView = Type.Object(enhanced);
export type EnhancedView = Static<typeof EnhancedView>;
