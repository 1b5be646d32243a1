/** Statistics and completion of a simulation set (contract 6.7). Pure. */

import type {
  GroupStatus,
  OverallStatistics,
  ScenarioStatistics,
} from '#shared/api/agent-testing/batches.ts';
import type { Usage } from '#shared/api/agent-testing/usage.ts';
import { usageSum } from '#shared/usage-sum.ts';
import type { TestRunRow } from '../../db/index.ts';
import type { AssertionResult } from '../judging/ports.ts';
import { flakinessOf, rateOf } from '../judging/rates.ts';
import { confidence, mean, median, round4, rounded, sampleStddev } from '../judging/statistics.ts';

/** A run of the set, oldest first in every list. */
export interface SimulatedRun {
  readonly id: string;
  readonly status: TestRunRow['status'];
  readonly score: number | null;
  /** Equal in runs that had the same conversation; null: not known, so it counts as one of its own. */
  readonly conversation: string | null;
  /** Null: not known. */
  readonly usage: Usage | null;
  readonly results: readonly Pick<AssertionResult, 'assertion_id' | 'type' | 'name' | 'passed'>[];
}

const mostModes = 5;

/** For the finished runs; rounded for output. */
export function scenarioStatistics(
  scenario: { readonly id: string; readonly name: string },
  runs: readonly SimulatedRun[],
): ScenarioStatistics {
  const finished = runs.filter(({ status }) => status === 'PASSED' || status === 'FAILED');
  const passed = finished.filter(({ status }) => status === 'PASSED').length;
  const n = finished.length;
  const scores = finished.flatMap(({ score }) => (score === null ? [] : [score]));
  const distinct = new Set(finished.map(({ conversation, id }) => conversation ?? id)).size;
  const count = (status: SimulatedRun['status']) => runs.filter((run) => run.status === status).length;
  return {
    scenario_id: scenario.id,
    scenario_name: scenario.name,
    total_runs: n,
    passed,
    failed: n - passed,
    errored: count('ERROR'),
    cancelled: count('CANCELLED'),
    ...rateOf(passed, n, distinct),
    ...flakinessOf(passed, n),
    scores: {
      mean: rounded(mean(scores)),
      median: rounded(median(scores)),
      stddev: rounded(sampleStddev(scores)),
      min: scores.length === 0 ? null : round4(Math.min(...scores)),
      max: scores.length === 0 ? null : round4(Math.max(...scores)),
    },
    worst_run_id: worstRun(finished),
    common_failure_modes: failureModes(finished),
    confidence: confidence(distinct),
    usage: usageSum(runs.map(({ usage }) => usage)),
  };
}

/** The lowest score, the earliest of equals; a run without a score is lowest. */
function worstRun(finished: readonly SimulatedRun[]): string | null {
  const score = (run: SimulatedRun) => run.score ?? -1;
  const [first, ...others] = finished;
  if (!first) return null;
  return others.reduce((worst, run) => (score(run) < score(worst) ? run : worst), first).id;
}

function failureModes(finished: readonly SimulatedRun[]): string[] {
  const counts = new Map<string, number>();
  for (const { status, results } of finished) {
    if (status !== 'FAILED') continue;
    const modes = results
      .filter(({ passed }) => !passed)
      .map((one) => `${one.type}:${one.name || one.assertion_id}`);
    for (const mode of new Set(modes)) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, runs], [b, others]) => others - runs || (a < b ? -1 : 1))
    .slice(0, mostModes)
    .map(([mode, runs]) => `${mode}: ${runs} of ${finished.length}`);
}

/** Rates are computed unrounded from the counts. */
export function overallStatistics(
  scenarios: readonly ScenarioStatistics[],
  runs: readonly Pick<SimulatedRun, 'usage'>[],
): OverallStatistics {
  const rates = scenarios.flatMap(({ passed, total_runs: n }) => (n === 0 ? [] : [passed / n]));
  return {
    avg_pass_rate: rounded(mean(rates)),
    flaky_count: scenarios.filter(({ is_flaky }) => is_flaky).length,
    reliable_count: rates.filter((rate) => rate === 1).length,
    total_runs: scenarios.reduce((sum, { total_runs }) => sum + total_runs, 0),
    errored: scenarios.reduce((sum, { errored }) => sum + errored, 0),
    usage: usageSum(runs.map(({ usage }) => usage)),
  };
}

/** The final status of a set whose runs have all ended and that was not canceled. @param threshold 0..1 */
export function setStatus(
  scenarios: readonly Pick<ScenarioStatistics, 'passed' | 'total_runs'>[],
  threshold: number,
): Extract<GroupStatus, 'PASSED' | 'FAILED' | 'ERROR'> {
  if (scenarios.some(({ total_runs }) => total_runs === 0)) return 'ERROR';
  return scenarios.every(({ passed, total_runs }) => passed / total_runs >= threshold) ? 'PASSED' : 'FAILED';
}
