/** The stored result of an ended iteration. */

import { type TestTornadoIterationRow, toJson } from '../../db/index.ts';
import { graphDiff, promptExcerpt } from './diff.ts';
import { failedIds, meanScore, passedIds } from './outcome.ts';
import type { Review } from './review.ts';
import { iterationsOf, type SessionState } from './state.ts';
import { planView } from './views.ts';

type Ended = Partial<Omit<TestTornadoIterationRow, 'session_id' | 'iteration'>>;

/** @param state with the outcome of the iteration @param before scenarios given up earlier @param now ISO */
export function endedIteration(
  state: SessionState,
  before: readonly string[],
  review: Review | null,
  now: string,
): Ended {
  const last = iterationsOf(state).at(-1) ?? new Map();
  const plan = review && planView(review.fixes, review.skipped);
  return {
    completed_at: now,
    passed_ids: toJson(passedIds(last)),
    failed_ids: toJson(failedIds(last)),
    newly_unfixable_ids: toJson(state.unfixable.filter((id) => !before.includes(id))),
    avg_score: meanScore(last),
    held_out: state.held ? toJson(state.held) : null,
    fix_plan: plan && toJson(plan),
    ...(review &&
      review.fixes.length > 0 && {
        prompt_excerpt: promptExcerpt(review.fixes.map(({ edit }) => edit)),
        diff: toJson(graphDiff(review.best, review.graph)),
      }),
  };
}
