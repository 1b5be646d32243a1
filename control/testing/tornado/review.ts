/**
 * After an iteration: which fixes are kept, what is planned next, and the resulting graph. Pure.
 *
 * Every version is the base with a list of fixes, so a fix is reverted by leaving it out, and a fork of the best
 * version has its fixes and those of the plan.
 */
import { applyEdit, editKey, type RawGraph } from '../analysis/edits.ts';
import { brokenScenarios, type Fix, harmful, sameFixes, useless } from './fixes.ts';
import { bestIteration, failedIds } from './outcome.ts';
import { type FailedScenario, planFixes } from './plan.ts';
import { iterationsOf, type SessionState } from './state.ts';

export interface Review {
  /** Did harm, or had no effect. */
  readonly reverted: readonly Fix[];
  /** The plan's fixes: those carried over, then new ones. */
  readonly fixes: readonly Fix[];
  readonly skipped: readonly Fix[];
  /** All fixes of the next version over the base. */
  readonly next: readonly Fix[];
  readonly graph: RawGraph;
  /** The best version so far, which the plan is applied to. */
  readonly best: RawGraph;
}

/** The failed scenarios of an ended iteration that need a plan. */
export function needsPlan(state: SessionState): string[] {
  const iterations = iterationsOf(state);
  const last = iterations.at(-1);
  if (!last) return [];
  const before = iterations[bestIteration(iterations.slice(0, -1))];
  const broken = new Set(before ? brokenScenarios(before, last) : []);
  const given = new Set(state.unfixable);
  // A failure caused by a fix is fixed by leaving the fix out.
  return failedIds(last).filter((id) => !broken.has(id) && !given.has(id));
}

/** @param state with the outcome of the last iteration @param accepts whether a graph is valid */
export function review(
  state: SessionState,
  failed: readonly FailedScenario[],
  accepts: (graph: RawGraph) => boolean,
): Review {
  const iterations = iterationsOf(state);
  const last = iterations.at(-1);
  const present = state.forks[iterations.length - 1]?.fixes ?? [];
  const bestBefore = bestIteration(iterations.slice(0, -1));
  const before = iterations[bestBefore];
  const known = new Set((state.forks[bestBefore]?.fixes ?? []).map(({ id }) => id));
  const made = present.filter(({ id }) => !known.has(id));
  const did = last && before ? harmful(before, last, made) : [];
  const idle = last && before ? useless(before, last, made).filter((fix) => !did.includes(fix)) : [];
  const reverted = [...did, ...idle];
  const kept = present.filter((fix) => !reverted.includes(fix));

  const bestFixes = state.forks[bestIteration(iterations)]?.fixes ?? [];
  const tried = new Set([...state.tried, ...[...reverted, ...kept].map(({ edit }) => editKey(edit))]);
  const start = built(state.base, kept);
  const planned = planFixes(start, failed, tried, state.numbered + 1, accepts);
  const next = [...kept, ...planned.fixes];
  const untested = !state.forks.some(({ fixes }) => sameFixes(fixes, next));
  const atBest = new Set(bestFixes.map(({ id }) => id));
  // After harm the rest of the last plan is tried alone, even where the best version had all of it.
  const rest = kept.filter((fix) => (did.length > 0 ? made.includes(fix) : !atBest.has(fix.id)));
  const carried = did.length > 0 || planned.fixes.length > 0 ? rest : [];
  return {
    reverted,
    fixes: untested ? [...carried, ...planned.fixes] : [],
    skipped: planned.skipped,
    next,
    graph: planned.graph,
    best: built(state.base, bestFixes),
  };
}

/** The base with fixes; those that no longer fit are left out. */
export function built(base: RawGraph, fixes: readonly Fix[]): RawGraph {
  return fixes.reduce((graph, { edit }) => applyEdit(graph, edit) ?? graph, base);
}
