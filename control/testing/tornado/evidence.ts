/** Reads the results of an iteration's batch. */

import { type Db, fromJson, type TestRunRow } from '../../db/index.ts';
import type { FailedCase } from '../analysis/case.ts';
import { loadCase } from '../analysis/load-case.ts';
import { findRecord, resultsOf, runsOf } from '../records/run-store.ts';
import type { ScenarioOutcome } from './outcome.ts';

/** By scenario, in the order of the runs; null while some are running. */
export async function outcomesOf(db: Db, batchId: string): Promise<[string, ScenarioOutcome][] | null> {
  const runs = await runsOf(db, 'batch_id', batchId);
  const outcomes: [string, ScenarioOutcome][] = [];
  for (const run of runs) {
    const { status } = run;
    if (status === 'PENDING' || status === 'RUNNING') return null;
    outcomes.push([run.scenario_id, { ...(await facts(db, run)), status, score: run.overall_score }]);
  }
  return outcomes;
}

async function facts(db: Db, run: TestRunRow): Promise<Pick<ScenarioOutcome, 'failure' | 'visited'>> {
  const visited = fromJson<string[] | null>((await findRecord(db, run.id)).nodes_visited);
  if (run.status !== 'FAILED') return { failure: null, visited: visited ?? [] };
  const results = (await resultsOf(db, [run.id])).get(run.id) ?? [];
  const first = results.find((result) => result.is_required === 1 && result.passed === 0);
  return { failure: `${first?.assertion_id ?? 'score'} at ${run.failed_node_id}`, visited: visited ?? [] };
}

/** The failed runs of some scenarios, with everything that analysis uses. */
export async function failedCases(
  db: Db,
  batchId: string,
  scenarioIds: readonly string[],
): Promise<{ readonly scenarioId: string; readonly failed: FailedCase }[]> {
  const runs = (await runsOf(db, 'batch_id', batchId)).filter(
    ({ scenario_id, status }) => status === 'FAILED' && scenarioIds.includes(scenario_id),
  );
  const cases = [];
  for (const run of runs) cases.push({ scenarioId: run.scenario_id, failed: await loadCase(db, run) });
  return cases;
}
