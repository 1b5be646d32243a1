/** Results of an iteration's runs, and of several iterations together (contract 6.8). Pure. */
import { mean } from '../judging/statistics.ts';

/** One run of one scenario. */
export interface ScenarioOutcome {
  readonly status: 'PASSED' | 'FAILED' | 'ERROR' | 'CANCELLED';
  readonly score: number | null;
  /** The first required assertion that did not pass, and its node; null: none. */
  readonly failure: string | null;
  /** Node ids in visiting order. */
  readonly visited: readonly string[];
}

/** By scenario id. */
export type IterationOutcome = ReadonlyMap<string, ScenarioOutcome>;

export function passedIds(iteration: IterationOutcome): string[] {
  return [...iteration].flatMap(([id, { status }]) => (status === 'PASSED' ? [id] : []));
}

/** Those that did not pass. */
export function failedIds(iteration: IterationOutcome): string[] {
  return [...iteration].flatMap(([id, { status }]) => (status === 'PASSED' ? [] : [id]));
}

/** Mean over the runs with a score; null: none has one. */
export function meanScore(iteration: IterationOutcome): number | null {
  return mean([...iteration.values()].flatMap(({ score }) => (score === null ? [] : [score])));
}

/**
 * Index of the best iteration: most passed, then the highest mean score, then the earliest; -1: none. One that fails a
 * scenario which the base passes is never the best.
 */
export function bestIteration(iterations: readonly IterationOutcome[]): number {
  let best = -1;
  const [base] = iterations;
  const kept = base ? passedIds(base) : [];
  iterations.forEach((iteration, index) => {
    if (kept.some((id) => iteration.get(id)?.status !== 'PASSED')) return;
    const before = iterations[best];
    if (!before || better(iteration, before)) best = index;
  });
  return best;
}

function better(a: IterationOutcome, b: IterationOutcome): boolean {
  const passed = passedIds(a).length - passedIds(b).length;
  return passed !== 0 ? passed > 0 : (meanScore(a) ?? 0) > (meanScore(b) ?? 0);
}

/** A scenario is given up after this many iterations in a row with the same failure despite a fix. */
const hopelessAfter = 3;

/**
 * Scenarios that fail in the last iterations at the same assertion and node although a fix targeted them.
 * @param targeted scenarios targeted by the plan after each of these iterations
 */
export function unfixableIds(
  iterations: readonly IterationOutcome[],
  targeted: readonly ReadonlySet<string>[],
): string[] {
  const late = iterations.slice(-hopelessAfter);
  const last = late.at(-1);
  if (!last || late.length < hopelessAfter) return [];
  const plans = targeted.slice(iterations.length - hopelessAfter, iterations.length - 1);
  return failedIds(last).filter((id) => {
    const failure = last.get(id)?.failure ?? null;
    if (failure === null || !plans.some((plan) => plan.has(id))) return false;
    return late.every((iteration) => {
      const outcome = iteration.get(id);
      return outcome?.status === 'FAILED' && outcome.failure === failure;
    });
  });
}
