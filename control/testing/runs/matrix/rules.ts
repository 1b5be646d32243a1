/** The table of a matrix: differences from its first cell, and what breaks first (contract 6.15). Pure. */
import type { GroupStatus, ScenarioStatistics } from '#shared/api/agent-testing/batches.ts';
import { type Axis, axes, type Cell } from '#shared/api/agent-testing/matrices.ts';
import { newcombe, overDistinct, round4, roundedInterval } from '../../judging/statistics.ts';

export interface MeasuredCell {
  readonly cell: Cell;
  readonly simulation_set_id: string;
  readonly status: GroupStatus;
  readonly statistics: ScenarioStatistics;
}

type Statistics = Pick<ScenarioStatistics, 'passed' | 'total_runs' | 'distinct_conversations'>;

/** All combinations, versions outermost; null: the scenario's own. */
export function cellsOf(
  versions: readonly (number | null)[],
  voices: readonly (string | null)[],
  weathers: readonly (string | null)[],
): Cell[] {
  return versions.flatMap((version) =>
    voices.flatMap((voice) => weathers.map((weather) => ({ version, voice, weather }))),
  );
}

/** How much more often a cell passes than the first one; by Newcombe over distinct conversations. Null without runs. */
export function differenceOf(cell: Statistics, first: Statistics) {
  if (cell.total_runs === 0 || first.total_runs === 0) return null;
  const value = cell.passed / cell.total_runs - first.passed / first.total_runs;
  // One conversation, however often it was had, says nothing about others.
  const enough = Math.min(cell.distinct_conversations, first.distinct_conversations) > 1;
  const interval = enough ? newcombe(samplesOf(cell), samplesOf(first)) : null;
  return { value: round4(value), interval: roundedInterval(interval) };
}

function samplesOf({ distinct_conversations: n, passed, total_runs }: Statistics) {
  return overDistinct(passed, total_runs, n);
}

/**
 * The first cell, in the order of the request, that certainly passes less often than the first one: those that differ
 * from it in one thing before those that differ in several. Null: none does.
 */
export function firstBreak(cells: readonly MeasuredCell[]) {
  const [first] = cells;
  if (!first) return null;
  const broken = cells.flatMap((one) => {
    const difference = differenceOf(one.statistics, first.statistics);
    const isBroken = difference?.interval != null && difference.interval.high < 0;
    return isBroken ? [{ one, difference: difference.value, changed: changedIn(one.cell, first.cell) }] : [];
  });
  const [found] = broken.toSorted((a, b) => Math.min(a.changed.length, 2) - Math.min(b.changed.length, 2));
  if (!found) return null;
  const { changed, difference, one } = found;
  const [axis] = changed;
  return {
    simulation_set_id: one.simulation_set_id,
    axis: changed.length === 1 && axis ? axis : ('combination' as const),
    value: changed.map((name) => `${name} ${one.cell[name]}`).join(', '),
    difference,
    failure_mode: one.statistics.common_failure_modes[0] ?? null,
    run_id: one.statistics.worst_run_id,
  };
}

function changedIn(cell: Cell, first: Cell): Axis[] {
  return axes.filter((axis) => cell[axis] !== first[axis]);
}

const worstFirst = ['FAILED', 'ERROR', 'CANCELLED'] as const;

/** Of all cells together. */
export function matrixStatus(cells: readonly GroupStatus[]): GroupStatus {
  if (cells.every((status) => status === 'PENDING')) return 'PENDING';
  if (cells.some((status) => status === 'PENDING' || status === 'RUNNING')) return 'RUNNING';
  return worstFirst.find((status) => cells.includes(status)) ?? 'PASSED';
}
