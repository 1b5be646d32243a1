/** Pass rates with their intervals, and why there is none (contract 6.7). Pure. */
import {
  flakiness,
  noteOnDistinct,
  round4,
  rounded,
  roundedInterval,
  wilsonOfDistinct,
} from './statistics.ts';

/**
 * Of runs that passed or failed; rounded for output.
 * @param distinct conversations among them: runs with one conversation are one sample
 */
export function rateOf(passed: number, n: number, distinct: number) {
  return {
    pass_rate: n === 0 ? null : round4(passed / n),
    distinct_conversations: distinct,
    pass_rate_interval: roundedInterval(wilsonOfDistinct(passed, n, distinct)),
    pass_rate_note: noteOnDistinct(distinct, n),
  };
}

/** Whether runs of one scenario disagree, and how much. */
export function flakinessOf(passed: number, n: number) {
  return { is_flaky: passed > 0 && passed < n, flakiness: rounded(flakiness(passed, n)) };
}
