import { expect, it } from 'vitest';
import type { CallerBehaviorParts } from './behaviors/behavior.ts';
import { Screener } from './behaviors/screener.ts';

it.each([1, 2])('a screening service looks for the person for %d turns, and then hangs up', (searches) => {
  const chance = { pick: (from: readonly unknown[]) => (from.includes(searches) ? searches : from[0]) };
  const parts = { chance, profile: { quotes: [] } } as unknown as CallerBehaviorParts;
  const screener = new Screener(parts);
  const heard = (text: string) => screener.next({ text } as Parameters<Screener['next']>[0]).type;
  heard('Hello');
  expect(heard('This is Ben, calling about your appointment.')).toBe('say');
  for (let turn = 0; turn < searches; turn++) expect(heard('')).toBe('silence');
  expect(heard('')).toBe('hangup');
});
