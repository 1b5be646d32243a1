/** Tokens and cost of several runs. Pure. */
import type { Usage, UsageSum } from './api/agent-testing/usage.ts';

/** Money: sums of small prices lose their binary dust. */
export function amount(value: number): number {
  return Math.round(value * 1e8) / 1e8;
}

/** @param usages null: a run from before usage was kept, or that was cancelled */
export function usageSum(
  usages: readonly (Pick<Usage, 'input_tokens' | 'output_tokens' | 'cost' | 'currency'> | null)[],
): UsageSum {
  const known = usages.filter((usage) => usage !== null);
  const priced = known.flatMap(({ cost, currency }) => (cost === null ? [] : [{ cost, currency }]));
  // A run that asked no model costs nothing in any currency.
  const currencies = new Set(priced.filter(({ cost }) => cost > 0).map(({ currency }) => currency));
  const isOne = priced.length > 0 && currencies.size <= 1;
  return {
    input_tokens: known.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
    output_tokens: known.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
    cost: isOne ? amount(priced.reduce((sum, { cost }) => sum + cost, 0)) : null,
    currency: isOne ? ([...currencies][0] ?? priced[0]?.currency ?? null) : null,
    runs_without_cost: isOne ? usages.length - priced.length : usages.length,
  };
}
