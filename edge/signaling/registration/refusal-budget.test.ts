import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { mostRefusals, RefusalBudget, refusalWindowMs } from './refusal-budget.ts';

/** Attempts that start at once, and are rejected. */
function refusals(share: ReturnType<RefusalBudget['shareOf']>, tries: number): number {
  let begun = 0;
  for (let each = 0; each < tries; each++) {
    if (share.begin() > 0) continue;
    begun++;
    share.end();
    share.refused();
  }
  return begun;
}

it('limits rejections per window, separately for each organization and registrar', () => {
  const clock = new FakeClock();
  const budget = new RefusalBudget(clock);
  expect(refusals(budget.shareOf('a'), 20)).toBe(mostRefusals);
  expect(refusals(budget.shareOf('b'), 20)).toBe(mostRefusals);
  expect(budget.shareOf('a').begin()).toBe(refusalWindowMs);
  clock.advance(refusalWindowMs - 1);
  expect(budget.shareOf('a').begin()).toBe(1);
  clock.advance(1);
  expect(refusals(budget.shareOf('a'), 20)).toBe(mostRefusals);
});

it('counts pending attempts as rejected, and releases those that were not', () => {
  const budget = new RefusalBudget(new FakeClock());
  const share = budget.shareOf('a');
  for (let each = 0; each < mostRefusals; each++) expect(share.begin()).toBe(0);
  expect(share.begin()).toBeGreaterThan(0);
  expect(share.begin()).toBeLessThan(1000);
  share.end();
  expect(share.begin()).toBe(0);
  for (let each = 0; each < mostRefusals; each++) share.end();
  expect(budget.size).toBe(0);
});
