/** Whether a required scenario has passed on a content, and why not (contract 6.11). Pure. */

import type { TestRunRow, TestScenarioRow } from '../../db/index.ts';
import type { BlockingScenario } from '../../promotion/index.ts';
import { rounded } from '../judging/statistics.ts';

type Scenario = Pick<TestScenarioRow, 'id' | 'name' | 'updated_at' | 'promotion_repeats'>;
type Run = Pick<TestRunRow, 'id' | 'status' | 'overall_score' | 'created_at' | 'seed'>;

const reasons = {
  FAILED: 'RUN_FAILED',
  ERROR: 'RUN_ERROR',
  CANCELLED: 'RUN_CANCELLED',
  PENDING: 'RUN_IN_PROGRESS',
  RUNNING: 'RUN_IN_PROGRESS',
} as const;

/** What is told first: a run that failed decides, whatever the others will say. */
const worstFirst = ['FAILED', 'ERROR', 'CANCELLED', 'PENDING', 'RUNNING'] as const;

/**
 * It has passed when the newest runs of as many different seeds as it wants have: pass^k. A second run of one seed is
 * no second sample.
 * @param runs on exactly the content, newest first @returns null: not blocked
 */
export function blockedBy(scenario: Scenario, runs: readonly Run[]): BlockingScenario | null {
  const required = scenario.promotion_repeats;
  // ISO times in one format, so their texts can be compared.
  const current = runs.filter(({ created_at }) => created_at >= scenario.updated_at);
  const counted = ofDifferentSeeds(current).slice(0, required);
  const status = worstFirst.find((one) => counted.some((run) => run.status === one));
  const passed = counted.filter((run) => run.status === 'PASSED').length;
  if (passed === required) return null;
  const shown = counted.find((run) => run.status === status) ?? current[0] ?? runs[0];
  const facts = {
    scenario_id: scenario.id,
    name: scenario.name,
    latest_run_id: shown?.id ?? null,
    score: rounded(shown?.overall_score ?? null),
    runs_required: required,
    runs_passed: passed,
  };
  if (status) return { ...facts, reason: reasons[status] };
  if (current.length > 0) return { ...facts, reason: 'TOO_FEW_RUNS' };
  return { ...facts, reason: runs.length > 0 ? 'SCENARIO_CHANGED' : 'NO_RUN' };
}

/** Of runs with one seed the newest. */
function ofDifferentSeeds(runs: readonly Run[]): Run[] {
  const seeds = new Set<number>();
  return runs.filter(({ seed }) => !seeds.has(seed) && seeds.add(seed));
}
