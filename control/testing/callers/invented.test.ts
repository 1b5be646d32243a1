import { expect, it } from 'vitest';
import { chance } from '#shared/chance.ts';
import { Invented } from './invented.ts';

it.each([
  ['On a scale from 1 to 5, how satisfied are you?', 3, 5],
  ['How satisfied are you, from one to four?', 3, 4],
  ['How would you rate us, 0-10?', 5, 10],
  ['How would you rate our service?', 7, 9],
])('a rating is on the scale of "%s"', (question, low, high) => {
  for (let seed = 0; seed < 20; seed++) {
    const value = Number(new Invented(chance(seed), '').factFor(question, null)?.value);
    expect(value).toBeGreaterThanOrEqual(low);
    expect(value).toBeLessThanOrEqual(high);
  }
});
