import { expect, it } from 'vitest';
import { type Chance, chance } from '#shared/chance.ts';
import { Screener } from './behaviors/screener.ts';

it.each([1, 2])('a screening service looks for the person for %d turns, and then hangs up', (searches) => {
  const any = chance(1);
  const drawn: Chance = { ...any, pick: (from) => from.find((one) => one === searches) ?? any.pick(from) };
  const screener = new Screener({ chance: drawn, profile: { quotes: [] } });
  const heard = (text: string) => screener.next({ text } as Parameters<Screener['next']>[0]).type;
  heard('Hello');
  expect(heard('This is Ben, calling about your appointment.')).toBe('say');
  for (let turn = 0; turn < searches; turn++) expect(heard('')).toBe('silence');
  expect(heard('')).toBe('hangup');
});
