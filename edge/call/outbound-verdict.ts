/** The termination of an outbound call whose last attempt failed. Pure. */
import { type AttemptFacts, attemptProblem } from './causes/cause-words.ts';
import { causeOf } from './causes/outbound-cause.ts';
import type { Termination } from './ending.ts';

export function verdictOf(facts: AttemptFacts): Termination {
  const { outcome } = facts;
  const cause = causeOf(outcome);
  if (!cause) return { code: 'no_answer', detail: null };
  const verdict = { code: cause.code, detail: attemptProblem(facts) };
  if (outcome.kind !== 'final') return verdict;
  const { status, refusal } = outcome;
  return { ...verdict, sipStatus: status, ...(refusal ? { sipReason: refusal.reason } : {}) };
}
