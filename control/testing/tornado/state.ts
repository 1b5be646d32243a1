/** What a session has done so far: plain data, from which it goes on after a restart. */
import type { RawGraph } from '../analysis/edits.ts';
import type { Fix } from './fixes.ts';
import type { IterationOutcome, ScenarioOutcome } from './outcome.ts';

/** A version that was run. */
export interface TestedFork {
  readonly version: number;
  /** Over the base, in the order in which they are applied. */
  readonly fixes: readonly Fix[];
}

export interface SessionState {
  /** As it was when the session began. */
  readonly base: RawGraph;
  /** One for each iteration, the one under way included. */
  readonly forks: readonly TestedFork[];
  /** One for each iteration that has ended. */
  readonly outcomes: readonly (readonly (readonly [string, ScenarioOutcome])[])[];
  /** Keys of edits that did harm or no good. */
  readonly tried: readonly string[];
  /** How many fixes were numbered. */
  readonly numbered: number;
  readonly unfixable: readonly string[];
}

export function iterationsOf({ outcomes }: SessionState): IterationOutcome[] {
  return outcomes.map((iteration) => new Map(iteration));
}

/** For each iteration the scenarios that the plan after it had a fix for: what the next fork has more. */
export function targetedBy({ forks }: SessionState): ReadonlySet<string>[] {
  return forks.map((fork, index) => {
    const known = new Set(fork.fixes.map(({ id }) => id));
    const made = forks[index + 1]?.fixes.filter(({ id }) => !known.has(id)) ?? [];
    return new Set(made.flatMap(({ scenarios }) => scenarios));
  });
}
