import { expect, it } from 'vitest';
import { partsOf } from './quotes.ts';

it('marks what verdicts quote, also where quotes overlap', () => {
  const line = 'You are booked. Goodbye.';
  expect(
    partsOf(line, [
      { quote: 'booked. Good', by: 0 },
      { quote: 'Goodbye', by: 2 },
    ]),
  ).toEqual([
    { text: 'You are ', by: [] },
    { text: 'booked. ', by: [0] },
    { text: 'Good', by: [0, 2] },
    { text: 'bye', by: [2] },
    { text: '.', by: [] },
  ]);
});

it('leaves a line whole that nothing quotes, or that lacks the quote', () => {
  const whole = [{ text: 'Hello.', by: [] }];
  expect(partsOf('Hello.', [])).toEqual(whole);
  expect(
    partsOf('Hello.', [
      { quote: 'Bye', by: 1 },
      { quote: '', by: 2 },
    ]),
  ).toEqual(whole);
  expect(partsOf('', [])).toEqual([]);
});
