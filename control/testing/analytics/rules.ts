/** Analytics of a pathway's runs (contract 6.9 and 6.10). Pure. */
import type { EnhancedView } from '#shared/api/agent-testing/analytics.ts';
import type { TestRunRow } from '../../db/index.ts';
import {
  type Interval,
  mean,
  newcombe,
  noteOnDistinct,
  overDistinct,
  reliability,
  round4,
  rounded,
  roundedInterval,
  wilsonOfDistinct,
} from '../judging/statistics.ts';

export interface StatusCount {
  readonly status: TestRunRow['status'];
  readonly runs: number;
  /** Runs with a score, and the sum of the scores. */
  readonly scored: number;
  readonly score_sum: number;
}

/** For one scenario. */
export interface ScenarioCount extends StatusCount {
  readonly scenario_id: string;
}

/** Runs with the same outcome. */
export interface RunGroup extends ScenarioCount {
  /** Empty: no nodes. */
  readonly path_id: string;
  /** Empty: none. */
  readonly failed_node_id: string;
}

/** Passed and failed runs of a UTC day. */
export interface DayCount {
  readonly day: string;
  readonly passed: number;
  readonly count: number;
}

interface Counted {
  readonly passed: number;
  readonly count: number;
  /** Different conversations of these runs. */
  readonly distinct: number;
}

export interface WeekCounts {
  readonly recent: Counted;
  readonly prior: Counted;
}

/** A node of the current graph. */
export interface KnownNode {
  readonly name: string;
  readonly type: string;
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly errored: number;
  readonly cancelled: number;
  /** passed + failed */
  readonly n: number;
  /** null: no run has a score */
  readonly avgScore: number | null;
  /** Different conversations of the passed and failed runs that are stored. */
  readonly distinct: number;
  readonly interval: Interval | null;
}

/** @param distinct different conversations of the passed and failed runs */
export function totalsOf(groups: readonly StatusCount[], distinct: number): Totals {
  const count = (status: RunGroup['status']) =>
    groups.reduce((sum, group) => sum + (group.status === status ? group.runs : 0), 0);
  const passed = count('PASSED');
  const failed = count('FAILED');
  const scored = groups.reduce((sum, group) => sum + group.scored, 0);
  const scores = groups.reduce((sum, group) => sum + group.score_sum, 0);
  return {
    passed,
    failed,
    errored: count('ERROR'),
    cancelled: count('CANCELLED'),
    n: passed + failed,
    avgScore: scored === 0 ? null : scores / scored,
    distinct,
    interval: wilsonOfDistinct(passed, passed + failed, distinct),
  };
}

export function totalsView(totals: Totals) {
  const { passed, failed, errored, cancelled, n, avgScore, distinct, interval } = totals;
  return {
    total_runs: n,
    passed,
    failed,
    errored,
    cancelled,
    pass_rate: n === 0 ? null : round4(passed / n),
    distinct_conversations: distinct,
    pass_rate_interval: roundedInterval(interval),
    pass_rate_note: noteOnDistinct(distinct, n),
    failure_rate: n === 0 ? null : round4(failed / n),
    avg_score: rounded(avgScore),
  };
}

/** Per scenario, in order of appearance. */
export function reliabilityOf(groups: readonly ScenarioCount[]) {
  const counts = new Map<string, { n: number; c: number }>();
  for (const { scenario_id, status, runs } of groups) {
    if (!isFinished(status)) continue;
    const count = counts.get(scenario_id) ?? { n: 0, c: 0 };
    count.n += runs;
    if (status === 'PASSED') count.c += runs;
    counts.set(scenario_id, count);
  }
  const components = [...counts].map(([scenario_id, { n, c }]) => ({
    scenario_id,
    n,
    c,
    value: reliability(c, n) ?? 0,
  }));
  return { score: mean(components.map(({ value }) => value)), components };
}

/** Whether runs with this status count in rates. */
export function isFinished(status: RunGroup['status']): boolean {
  return status === 'PASSED' || status === 'FAILED';
}

/** 0.4, 0.3 and 0.3 of confidence, score and reliability; null without an interval. */
export function healthOf(totals: Totals, reliable: number | null): number | null {
  if (!totals.interval) return null;
  return 0.4 * totals.interval.low + 0.3 * (totals.avgScore ?? 0) + 0.3 * (reliable ?? 0);
}

/** The smallest reported difference, and the fewest different conversations on each side. */
const tellingDelta = 0.05;
const tellingConversations = 5;
/** Ratios that are equal in decimals may differ in the last bits. */
const slack = 1e-12;

export function trendOf({ recent, prior }: WeekCounts, days: readonly DayCount[]): EnhancedView['trend'] {
  const samples = ({ passed, count, distinct }: Counted) => overDistinct(passed, count, distinct);
  const interval = newcombe(samples(recent), samples(prior));
  const rate = ({ passed, count }: Counted) => (count === 0 ? null : passed / count);
  const now = rate(recent);
  const before = rate(prior);
  const delta = now === null || before === null ? null : now - before;
  return {
    weekly: direction(delta, interval, Math.min(recent.distinct, prior.distinct)),
    recent: { rate: rounded(now), count: recent.count, distinct_conversations: recent.distinct },
    prior: { rate: rounded(before), count: prior.count, distinct_conversations: prior.distinct },
    delta: rounded(delta),
    interval: roundedInterval(interval),
    daily_pass_rates: days.map(({ day, passed, count }) => ({
      date: day,
      rate: round4(passed / count),
      count,
    })),
  };
}

function direction(delta: number | null, interval: Interval | null, conversations: number) {
  if (delta === null || !interval || conversations < tellingConversations) return 'stable';
  if (Math.abs(delta) < tellingDelta - slack) return 'stable';
  if (interval.low > 0) return 'improving';
  return interval.high < 0 ? 'declining' : 'stable';
}

interface NodeCount {
  failures: number;
  traversals: number;
}

/** Passed and failed runs by node, most often failing first. */
export function heatmapOf(
  groups: readonly RunGroup[],
  paths: ReadonlyMap<string, readonly string[]>,
  known: ReadonlyMap<string, KnownNode>,
) {
  const counts = new Map<string, NodeCount>();
  const countOf = (id: string) => {
    const count = counts.get(id) ?? { failures: 0, traversals: 0 };
    counts.set(id, count);
    return count;
  };
  for (const { status, path_id, failed_node_id, runs } of groups) {
    if (!isFinished(status)) continue;
    const path = paths.get(path_id) ?? [];
    for (const id of path) countOf(id).traversals += runs;
    if (status !== 'FAILED' || failed_node_id === '') continue;
    const blamed = countOf(failed_node_id);
    blamed.failures += runs;
    if (!path.includes(failed_node_id)) blamed.traversals += runs;
  }
  return [...counts]
    .map(([node_id, { failures, traversals }]) => ({
      node_id,
      node_name: known.get(node_id)?.name ?? node_id,
      failure_count: failures,
      total_traversals: traversals,
      failure_rate: failures / traversals,
    }))
    .sort(
      (a, b) =>
        b.failure_rate - a.failure_rate ||
        b.failure_count - a.failure_count ||
        (a.node_id < b.node_id ? -1 : 1),
    );
}

/** Fewer runs through a node are not significant. */
const tellingTraversals = 5;

export function weakestLink(heatmap: ReturnType<typeof heatmapOf>): EnhancedView['weakest_link'] {
  const weakest = heatmap.find(
    ({ total_traversals, failure_count }) => total_traversals >= tellingTraversals && failure_count >= 1,
  );
  if (!weakest) return null;
  const { node_id, node_name, failure_rate } = weakest;
  return { node_id, node_name, failure_rate: round4(failure_rate) };
}
