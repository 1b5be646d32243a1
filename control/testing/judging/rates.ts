/** Pass rates with their intervals, and why there is none (contract 6.7). Pure. */
import { counted } from '#shared/counted.ts';
import { flakiness, round4, rounded, roundedInterval, wilson } from './statistics.ts';

/**
 * Of runs that passed or failed; rounded for output.
 * @param distinct conversations among them: runs with one conversation are one sample
 */
export function rateOf(passed: number, n: number, distinct: number) {
  return {
    pass_rate: n === 0 ? null : round4(passed / n),
    distinct_conversations: distinct,
    pass_rate_interval: roundedInterval(distinct < 2 ? null : wilson((passed / n) * distinct, distinct)),
    pass_rate_note: noteOn(distinct, n),
  };
}

/** Whether runs of one scenario disagree, and how much. */
export function flakinessOf(passed: number, n: number) {
  return { is_flaky: passed > 0 && passed < n, flakiness: rounded(flakiness(passed, n)) };
}

/** Why there is no interval; null: there is one. */
function noteOn(distinct: number, n: number): string | null {
  if (distinct > 1) return null;
  if (n === 0) return 'No run has passed or failed.';
  return n === 1
    ? 'One conversation says nothing about others.'
    : `All ${counted(n, 'run')} had one and the same conversation, which says nothing about others: this caller and this agent do not vary with the seed.`;
}
