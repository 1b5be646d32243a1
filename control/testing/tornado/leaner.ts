/**
 * Once everything passes, each fix is left out in turn: one without which everything passes as well is not handed back.
 * Pure.
 */
import { applyEdit, type RawGraph } from '../analysis/edits.ts';
import { type Fix, sameFixes } from './fixes.ts';
import { bestIteration, failedIds, type IterationOutcome, meanScore } from './outcome.ts';
import type { Review } from './review.ts';
import { iterationsOf, type SessionState } from './state.ts';

/** Versions of a session that are tried with a fix left out. */
const mostTrials = 10;
/** Iterations of a session, with those trials: as many as the API shows. */
const mostIterations = 20;

/**
 * The iteration whose version a session hands back: the best one, or, once everything passed, the last one that needed
 * fewer fixes for it. -1: none.
 */
export function handedBack(iterations: readonly IterationOutcome[]): number {
  const best = bestIteration(iterations);
  const score = meanScore(iterations[best] ?? new Map()) ?? 0;
  if (best < 0 || !allPass(iterations[best])) return best;
  return iterations.findLastIndex((one) => allPass(one) && (meanScore(one) ?? 0) >= score);
}

function allPass(iteration: IterationOutcome | undefined): boolean {
  return iteration !== undefined && iteration.size > 0 && failedIds(iteration).length === 0;
}

/** Whether everything passed in an iteration: what follows are trials without a fix. */
export function isTrying(state: SessionState): boolean {
  return iterationsOf(state).some(allPass);
}

/**
 * The next version to try, that which is handed back without one of its fixes; null: none is left to try.
 * @param state of a session in which everything passed, with the outcome of the last iteration
 */
export function leanerVersion(state: SessionState, accepts: (graph: RawGraph) => boolean): Review | null {
  const iterations = iterationsOf(state);
  const { fixes } = state.forks[handedBack(iterations)] ?? { fixes: [] };
  const trials = iterations.length - 1 - iterations.findIndex(allPass);
  if (fixes.length < 2 || trials >= mostTrials || iterations.length >= mostIterations) return null;
  for (const fix of fixes.toReversed()) {
    const { graph, kept } = fitting(
      state.base,
      fixes.filter((one) => one !== fix),
    );
    const isKnown = state.forks.some((fork) => sameFixes(fork.fixes, kept));
    if (kept.length === 0 || isKnown || !accepts(graph)) continue;
    const reverted = fixes.filter((one) => !kept.includes(one));
    const best = fitting(state.base, fixes).graph;
    return { reverted, fixes: [], skipped: [], next: kept, graph, best };
  }
  return null;
}

/** A fix that changes what another one added goes with it. */
function fitting(base: RawGraph, fixes: readonly Fix[]): { graph: RawGraph; kept: Fix[] } {
  const kept: Fix[] = [];
  let graph = base;
  for (const fix of fixes) {
    const changed = applyEdit(graph, fix.edit);
    if (!changed) continue;
    graph = changed;
    kept.push(fix);
  }
  return { graph, kept };
}
