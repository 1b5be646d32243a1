/** The state of a session: plain data, from which it resumes after a restart. */
import type { RawGraph } from '../analysis/edits.ts';
import type { Fix } from './fixes.ts';
import type { IterationOutcome, ScenarioOutcome } from './outcome.ts';

/** A tested version. */
export interface TestedFork {
  readonly version: number;
  /** Over the base, in order of application. */
  readonly fixes: readonly Fix[];
}

export interface SessionState {
  /** As of the session's start. */
  readonly base: RawGraph;
  /** One for each iteration, including the current one. */
  readonly forks: readonly TestedFork[];
  /** One for each ended iteration. */
  readonly outcomes: readonly (readonly (readonly [string, ScenarioOutcome])[])[];
  /** Keys of edits that did harm or had no effect. */
  readonly tried: readonly string[];
  /** How many fixes have been numbered. */
  readonly numbered: number;
  readonly unfixable: readonly string[];
  /** The batch of held-out variants of the iteration whose runs have ended; null, absent: not started. */
  readonly variants?: string | null;
  /** Held-out variants of the last ended iteration; null, absent: none were tried. */
  readonly held?: { readonly variants: number; readonly passed: number } | null;
}

export function iterationsOf({ outcomes }: SessionState): IterationOutcome[] {
  return outcomes.map((iteration) => new Map(iteration));
}

/** For each iteration the scenarios targeted by the plan after it, which are the additions of the next fork. */
export function targetedBy({ forks }: SessionState): ReadonlySet<string>[] {
  return forks.map((fork, index) => {
    const known = new Set(fork.fixes.map(({ id }) => id));
    const made = forks[index + 1]?.fixes.filter(({ id }) => !known.has(id)) ?? [];
    return new Set(made.flatMap(({ scenarios }) => scenarios));
  });
}
