import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pronunciation } from '../pronunciation-entry.ts';
import { Pronouncer } from './pronunciation.ts';

const list: Pronunciation[] = [
  { text: 'SQL', say: 'sequel' },
  { text: 'MySQL', say: 'my sequel' },
  { text: 'US', say: 'United States', match_case: true },
  { text: 'C++', say: 'see plus plus' },
  { text: 'GmbH & Co', say: 'and company', whole_words: false },
  { text: '24/7', say: 'around the clock' },
];

it('an entry that must match the case does not hide a shorter one where it does not match', () => {
  const spoken = new Pronouncer([
    { text: 'IT dept', say: 'information technology', match_case: true },
    { text: 'dept', say: 'department' },
    { text: 'it', say: 'eye tee' },
  ]);
  expect(spoken.spoken('Call the it dept now.')).toBe('Call the eye tee department now.');
  expect(spoken.spoken('Call the IT dept, the IT DEPT.')).toBe(
    'Call the information technology, the eye tee department.',
  );
});

describe('a pronunciation list', () => {
  it.each([
    ['We use SQL, mysql and NoSQL.', 'We use sequel, my sequel and NoSQL.'],
    ['Call us in the US', 'Call us in the United States'],
    ['C++ is not C', 'see plus plus is not C'],
    ['AbGmbH & Coat', 'Aband companyat'],
    ['Open 24/7', 'Open around the clock'],
    ['SQLé SQL', 'SQLé sequel'],
    ['', ''],
  ])('speaks %j as %j', (text, spoken) => {
    expect(new Pronouncer(list).spoken(text)).toBe(spoken);
  });

  it('of the pathway wins over that of the organization, and nothing is replaced twice', () => {
    const own = [
      { text: 'SQL', say: 'S Q L' },
      { text: 'L', say: 'ell' },
    ];
    expect(new Pronouncer(list).spoken('SQL, mysql and L', own)).toBe('S Q L, my sequel and ell');
  });

  it('leaves every text alone when it is empty', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(new Pronouncer([]).spoken(text)).toBe(text);
      }),
    );
  });

  it('takes any text as it is written', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const entry = { text, say: 'x', whole_words: false, match_case: true };
        expect(new Pronouncer([entry]).spoken(`(${text})`)).toContain('x');
      }),
    );
  });
});

describe('digit by digit', () => {
  it.each([
    ['Your order is 4711.', 'Your order is 4 7 1 1.'],
    ['Call +1 (415) 555-0100 now', 'Call +1, 4 1 5, 5 5 5, 0 1 0 0 now'],
    ['Call +14155550100', 'Call +1 4 1 5 5 5 5 0 1 0 0'],
    ['Code AB12-34X', 'Code AB 1 2, 3 4 X'],
    ['On 2026-11-26 at 10:30 for $1,200.50', 'On 2026-11-26 at 10:30 for $1,200.50'],
    ['11/26/2026 or 26.11.2026', '11/26/2026 or 26.11.2026'],
    ['November 26, 2026, and 26 November', 'November 26, 2026, and 26 November'],
    ['The 22nd time, 15 % of 3.5, 40 dollars', 'The 22nd time, 15 % of 3.5, 40 dollars'],
    ['€5 and £ 12', '€5 and £ 12'],
  ])('reads %j as %j', (text, spoken) => {
    expect(new Pronouncer().spoken(text, [], true)).toBe(spoken);
  });

  it('is not the way of other texts, and entries of lists come first', () => {
    expect(new Pronouncer().spoken('Order 4711')).toBe('Order 4711');
    expect(new Pronouncer(list).spoken('24/7, 4711 SQL', [], true)).toBe('around the clock, 4 7 1 1 sequel');
  });
});
