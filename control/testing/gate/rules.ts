/** Whether a required scenario has passed on a content, and why not (contract 6.11). Pure. */

import type { TestRunRow, TestScenarioRow } from '../../db/index.ts';
import type { BlockingScenario } from '../../promotion/index.ts';
import { rounded } from '../judging/statistics.ts';

type Scenario = Pick<TestScenarioRow, 'id' | 'name' | 'updated_at'>;
type LatestRun = Pick<TestRunRow, 'id' | 'status' | 'overall_score' | 'created_at'>;

const reasons = {
  PENDING: 'RUN_IN_PROGRESS',
  RUNNING: 'RUN_IN_PROGRESS',
  FAILED: 'RUN_FAILED',
  ERROR: 'RUN_ERROR',
  CANCELLED: 'RUN_CANCELLED',
} as const;

/** @param run the newest one on exactly the content @returns null: not blocked */
export function blockedBy(scenario: Scenario, run: LatestRun | undefined): BlockingScenario | null {
  const facts = {
    scenario_id: scenario.id,
    name: scenario.name,
    latest_run_id: run?.id ?? null,
    score: rounded(run?.overall_score ?? null),
  };
  if (!run) return { ...facts, reason: 'NO_RUN' };
  // ISO times in one format, so their texts can be compared.
  if (scenario.updated_at > run.created_at) return { ...facts, reason: 'SCENARIO_CHANGED' };
  return run.status === 'PASSED' ? null : { ...facts, reason: reasons[run.status] };
}
