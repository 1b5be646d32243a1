import { describe, expect, it } from 'vitest';
import { numbersOfQuery, portabilityOf, requireNumbers } from './portability-rules.ts';

const countries = ['US', 'CA', 'PR', 'GB'];

describe('the result of the numbering plan', () => {
  it.each([
    ['+14155550100', true, 'unknown', false],
    ['+16045550100', true, 'unknown', false],
    ['+18005550100', true, 'toll-free', false],
    ['+442079460000', true, 'landline', false],
    ['+447400123456', true, 'mobile', true],
    ['+445600000000', true, 'voip', false],
    ['+19005550100', false, 'unknown', false],
    ['+19999999999', false, 'unknown', false],
    ['+4930123456', false, 'landline', false],
  ] as const)('of %s', (number, portable, number_type, pin_required) => {
    const result = portabilityOf(number, countries);
    expect(result).toMatchObject({ phone_number: number, portable, number_type, pin_required });
    expect(result.reason === null).toBe(portable);
  });
});

describe('numbers of a query', () => {
  it('may be repeated, in brackets, or separated by commas, in order', () => {
    expect(
      numbersOfQuery({
        'phone_numbers[]': ['+14155550102', ' 14155550101'],
        phone_numbers: '14155550100,14155550102',
      }),
    ).toEqual(['+14155550102', '+14155550101', '+14155550100', '+14155550102']);
  });

  it('are listed when invalid', () => {
    expect(() => numbersOfQuery({ phone_numbers: '14155550100,12,abc' })).toThrow(
      expect.objectContaining({
        code: 'INVALID_PHONE_NUMBERS',
        items: [expect.objectContaining({ details: { invalid: ['12', 'abc'] } })],
      }),
    );
  });

  it.each([
    ['none', {}],
    ['only separators', { phone_numbers: ',' }],
    ['51', { phone_numbers: Array(51).fill('14155550100') }],
  ])('must be 1 to 50: %s', (_what, query) => {
    expect(() => numbersOfQuery(query)).toThrow(expect.objectContaining({ code: 'INVALID_PARAMETER' }));
  });

  it('are deduplicated', () => {
    expect(requireNumbers(['+14155550100', '1 415 555 0100'])).toEqual(['+14155550100']);
  });
});
