import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toE164 } from '#shared/e164.ts';

describe('toE164', () => {
  it.each([
    ['+14155550100', '+14155550100'],
    ['14155550100', '+14155550100'],
    [' +1 (415) 555-01.00 ', '+14155550100'],
    ['4930123', '+4930123'],
    ['123456789012345', '+123456789012345'],
  ])('reads %j', (text, number) => expect(toE164(text)).toBe(number));

  it.each([
    '',
    '+',
    '123456',
    '1234567890123456',
    '+04155550100',
    '0014155550100',
    '+1415555010a',
    '++14155550100',
    '1+4155550100',
  ])('rejects %j', (text) => expect(toE164(text)).toBeNull());

  it('reads the same number with any separators', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{6,14}$/);
    const separator = fc.constantFrom('', ' ', '-', '.', '(', ')');
    fc.assert(
      fc.property(digits, fc.array(separator, { minLength: 15, maxLength: 15 }), (number, between) => {
        const text = [...number].map((digit, index) => digit + (between[index] ?? '')).join('');
        expect(toE164(text)).toBe(`+${number}`);
        expect(toE164(`+${text}`)).toBe(`+${number}`);
      }),
    );
  });
});
