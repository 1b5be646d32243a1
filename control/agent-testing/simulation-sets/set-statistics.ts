/** What the runs of a simulation set come to, by the formulas of contract 6.7. Pure; rounded for output. */
import type { OverallStatistics, ScenarioStatistics } from '#shared/api/agent-testing/batches.ts';
import type { RunStatus } from '#shared/api/agent-testing/scenarios.ts';
import {
  confidence,
  flakiness,
  mean,
  median,
  rounded,
  roundedInterval,
  sampleStddev,
  wilson,
} from '../statistics.ts';

/** A run of a set, oldest first where there are several. */
export interface SimulatedRun {
  readonly id: string;
  readonly scenario_id: string;
  readonly status: RunStatus;
  readonly overall_score: number | null;
  /** `<type>:<name or id>` of the assertions that did not pass. */
  readonly unmet: readonly string[];
}

export interface ScenarioOfSet {
  readonly id: string;
  readonly name: string;
}

/** At most so many ways to fail are named. */
const mostModes = 5;

export interface SetStatistics {
  readonly per_scenario: Record<string, ScenarioStatistics>;
  readonly overall: OverallStatistics;
}

/** Over the runs that have ended. */
export function setStatistics(
  scenarios: readonly ScenarioOfSet[],
  runs: readonly SimulatedRun[],
): SetStatistics {
  const byScenario = Map.groupBy(runs, ({ scenario_id }) => scenario_id);
  const all = scenarios.map((scenario) => {
    const own = byScenario.get(scenario.id) ?? [];
    return { rate: passRate(own), view: scenarioStatistics(scenario, own) };
  });
  const rates = all.flatMap(({ rate }) => (rate === null ? [] : [rate]));
  const views = all.map(({ view }) => view);
  return {
    per_scenario: Object.fromEntries(views.map((view) => [view.scenario_id, view])),
    overall: {
      avg_pass_rate: rounded(mean(rates)),
      flaky_count: views.filter(({ is_flaky }) => is_flaky).length,
      reliable_count: rates.filter((rate) => rate === 1).length,
      total_runs: views.reduce((sum, { total_runs }) => sum + total_runs, 0),
      errored: views.reduce((sum, { errored }) => sum + errored, 0),
    },
  };
}

/** Unrounded; null when no run passed or failed. */
export function passRate(runs: readonly SimulatedRun[]): number | null {
  const passed = runs.filter(({ status }) => status === 'PASSED').length;
  const n = passed + runs.filter(({ status }) => status === 'FAILED').length;
  return n === 0 ? null : passed / n;
}

function scenarioStatistics(scenario: ScenarioOfSet, runs: readonly SimulatedRun[]): ScenarioStatistics {
  const of = (wanted: RunStatus) => runs.filter(({ status }) => status === wanted);
  const [passed, failed] = [of('PASSED'), of('FAILED')];
  const n = passed.length + failed.length;
  const counted = runs.filter(({ status }) => status === 'PASSED' || status === 'FAILED');
  const scores = counted.flatMap(({ overall_score }) => (overall_score === null ? [] : [overall_score]));
  return {
    scenario_id: scenario.id,
    scenario_name: scenario.name,
    total_runs: n,
    passed: passed.length,
    failed: failed.length,
    errored: of('ERROR').length,
    cancelled: of('CANCELLED').length,
    pass_rate: rounded(passRate(runs)),
    pass_rate_interval: roundedInterval(wilson(passed.length, n)),
    is_flaky: passed.length > 0 && failed.length > 0,
    flakiness: rounded(flakiness(passed.length, n)),
    scores: {
      mean: rounded(mean(scores)),
      median: rounded(median(scores)),
      stddev: rounded(sampleStddev(scores)),
      min: scores.length === 0 ? null : rounded(Math.min(...scores)),
      max: scores.length === 0 ? null : rounded(Math.max(...scores)),
    },
    worst_run_id: worst(counted),
    common_failure_modes: failureModes(failed, n),
    confidence: confidence(n),
  };
}

/** A run without a score was checked by nothing, which is the worst that can be said of it. */
function worst(runs: readonly SimulatedRun[]): string | null {
  const score = (run: SimulatedRun) => run.overall_score ?? -1;
  const [first, ...others] = runs;
  if (!first) return null;
  return others.reduce((least, run) => (score(run) < score(least) ? run : least), first).id;
}

function failureModes(failed: readonly SimulatedRun[], n: number): string[] {
  const counts = new Map<string, number>();
  for (const { unmet } of failed) {
    for (const mode of new Set(unmet)) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  }
  return [...counts]
    .map(([mode, count]) => ({ count, text: `${mode}: ${count} of ${n}` }))
    .sort((a, b) => b.count - a.count || (a.text < b.text ? -1 : 1))
    .slice(0, mostModes)
    .map(({ text }) => text);
}

/** Status of a set whose runs have all ended. */
export function endedStatus(
  scenarios: readonly ScenarioOfSet[],
  runs: readonly SimulatedRun[],
  threshold: number,
): 'PASSED' | 'FAILED' | 'ERROR' {
  const byScenario = Map.groupBy(runs, ({ scenario_id }) => scenario_id);
  const rates = scenarios.map(({ id }) => passRate(byScenario.get(id) ?? []));
  if (rates.some((rate) => rate === null)) return 'ERROR';
  return rates.every((rate) => rate !== null && rate >= threshold) ? 'PASSED' : 'FAILED';
}
