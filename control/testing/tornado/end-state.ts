/**
 * The end states of a tornado session (contract 6.8). Pure.
 *
 *     RUNNING --all pass in an iteration-------------------------> COMPLETED_ALL_PASSED
 *        |----the endpoint--------------------------------------> CANCELLED
 *        |----timeout_ms elapsed--------------------------------> TIMEOUT
 *        |----repeated failure, or most runs of an iteration----> ERROR
 *        |----only unfixable ones left--------------------------> COMPLETED_PARTIAL
 *        |----no progress in two iterations, or nothing to fix--> STUCK
 *        +----cap reached: some pass, or none-------------------> COMPLETED_PARTIAL, STUCK
 *
 * The first state that applies is used.
 */
import type { TornadoStatus } from '#shared/api/agent-testing/tornado.ts';
import { mean, round4 } from '../judging/statistics.ts';
import { failedIds, type IterationOutcome, passedIds } from './outcome.ts';

export interface Standing {
  /** Ended iterations, oldest first. */
  readonly iterations: readonly IterationOutcome[];
  readonly maxIterations: number;
  readonly cancelRequested: boolean;
  readonly elapsedMs: number;
  readonly timeoutMs: number;
  /** The failure after all retries; null: none. */
  readonly failure: string | null;
  readonly unfixable: ReadonlySet<string>;
  /** Fixes planned after the last iteration; null: not planned yet. */
  readonly planned: number | null;
}

/** A mean failed score must rise by this much to count as progress. */
const progress = 0.01;

type Ending = Exclude<TornadoStatus, 'RUNNING'>;

const endings: readonly ((standing: Standing) => Ending | null)[] = [
  allPassed,
  ({ cancelRequested }) => (cancelRequested ? 'CANCELLED' : null),
  ({ elapsedMs, timeoutMs }) => (elapsedMs >= timeoutMs ? 'TIMEOUT' : null),
  broken,
  onlyUnfixableLeft,
  stuck,
  capReached,
];

/** @returns null: the session continues */
export function endState(standing: Standing): Ending | null {
  for (const ending of endings) {
    const state = ending(standing);
    if (state) return state;
  }
  return null;
}

function allPassed({ iterations }: Standing): Ending | null {
  const last = iterations.at(-1);
  return last && failedIds(last).length === 0 ? 'COMPLETED_ALL_PASSED' : null;
}

function broken({ failure, iterations }: Standing): Ending | null {
  const last = iterations.at(-1);
  return failure !== null || (last && mostlyErrors(last)) ? 'ERROR' : null;
}

/** More than half of the runs. */
export function mostlyErrors(iteration: IterationOutcome): boolean {
  const outcomes = [...iteration.values()];
  return outcomes.filter(({ status }) => status === 'ERROR').length > outcomes.length / 2;
}

function onlyUnfixableLeft({ iterations, unfixable }: Standing): Ending | null {
  const last = iterations.at(-1);
  return last && failedIds(last).every((id) => unfixable.has(id)) ? 'COMPLETED_PARTIAL' : null;
}

function stuck({ iterations, planned }: Standing): Ending | null {
  if (planned === 0) return 'STUCK';
  const [before, last] = iterations.slice(-2);
  if (!before || !last) return null;
  const failed = failedIds(last);
  const same = failed.length === failedIds(before).length && failed.every((id) => !passes(before, id));
  return same && round4(failedScore(last) - failedScore(before)) < progress ? 'STUCK' : null;
}

function passes(iteration: IterationOutcome, id: string): boolean {
  return iteration.get(id)?.status === 'PASSED';
}

function failedScore(iteration: IterationOutcome): number {
  return mean(failedIds(iteration).map((id) => iteration.get(id)?.score ?? 0)) ?? 0;
}

function capReached({ iterations, maxIterations, planned }: Standing): Ending | null {
  const last = iterations.at(-1);
  // Whether anything is left to plan is checked before the cap.
  if (!last || planned === null || iterations.length < maxIterations) return null;
  return passedIds(last).length > 0 ? 'COMPLETED_PARTIAL' : 'STUCK';
}
