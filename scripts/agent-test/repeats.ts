/** Several runs of each scenario as one result: a scenario passes when all its runs do (pass^k). */
import { counted } from '#shared/counted.ts';
import type { Batch, Run } from './api.ts';
import { oneLine } from './table.ts';

export interface ScenarioResult {
  readonly name: string;
  readonly passed: number;
  readonly runs: readonly Run[];
}

/** Runs of batches over the same scenarios, in the order of the first one. */
export function byScenario(batches: readonly Batch[]): ScenarioResult[] {
  const groups = Map.groupBy(
    batches.flatMap(({ runs }) => runs),
    ({ scenario }) => scenario.id ?? scenario.name,
  );
  return [...groups.values()].map((runs) => ({
    name: runs[0]?.scenario.name ?? '',
    passed: runs.filter(({ status }) => status === 'PASSED').length,
    runs,
  }));
}

/** Whether enough scenarios passed in all their runs. @param failUnder percent */
export function isEnough(results: readonly ScenarioResult[], failUnder: number): boolean {
  const passed = results.filter((result) => result.passed === result.runs.length).length;
  return results.length > 0 && 100 * passed >= failUnder * results.length;
}

/** One line for each scenario, when there are several runs of it. */
export function repeatLines(results: readonly ScenarioResult[]): string[] {
  const all = results.filter(({ passed, runs }) => passed === runs.length).length;
  return [
    ...results.map(
      ({ name, passed, runs }) => `${oneLine(name)}: ${passed} of ${counted(runs.length, 'run')} passed`,
    ),
    `${all} of ${counted(results.length, 'scenario')} passed in all their runs`,
  ];
}
