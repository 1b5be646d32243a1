import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forbiddenBecause, readingsOf } from './limits-destination.ts';

describe('the numbers that a trunk may read a destination as', () => {
  it.each([
    ['+14155550123', ['+14155550123']],
    ['+1 (415) 555-0123', ['+14155550123']],
    ['14155550123', ['+14155550123']],
    ['0014155550123', ['+14155550123']],
    ['01114155550123', ['+14155550123']],
    ['0900123456', ['+0900123456']],
    ['sip:+882161234567@pbx.example.com', ['+882161234567']],
    ['sips:+882161234567:secret@pbx.example.com:5061;transport=tls', ['+882161234567']],
    ['SIP:%2B88216.123.4567;user=phone@pbx.example.com', ['+882161234567']],
    ['sip:+88216%3Bx=y@pbx.example.com', ['+88216']],
    ['sip:882161234567%40a@pbx.example.com', ['+882161234567']],
    ['tel:+882-161-234567;phone-context=+1', ['+882161234567']],
    ['*21*00882161234567#', ['+2100882161234567', '+882161234567']],
    ['882161234567alice', ['+882161234567']],
    ['_882161234567', ['+882161234567']],
  ])('%s is %j', (to, readings) => {
    expect(readingsOf(to)).toEqual(readings);
  });

  it.each([
    'alice',
    '1001',
    '*72',
    'sip:alice@a.example.com',
    'sip:1415@a.example.com',
    'sip:a.example.com',
    'sip:%zz@a',
    '',
  ])('%s is none', (to) => {
    expect(readingsOf(to)).toEqual([]);
  });
});

describe('the prefix lists', () => {
  const lists = {
    allowed_prefixes: ['+1', '+4416', '+49'],
    blocked_prefixes: ['+1900', '+44', '+4416245', '+49'],
  };

  it.each([
    ['+14155550123', null],
    ['+19005550123', 'prefix +1900 is blocked'],
    ['+441612345678', null],
    ['+441624512345', 'prefix +4416245 is blocked'],
    ['+442012345678', 'prefix +44 is blocked'],
    ['+493012345678', 'prefix +49 is blocked'],
    ['+33112345678', 'no allowed prefix fits'],
    ['sip:0019005550123@elsewhere.example.com', 'prefix +1900 is blocked'],
    ['*21*0033112345678#', 'no allowed prefix fits'],
    ['*1415*0033112345678#', 'no allowed prefix fits'],
    ['1001', null],
    ['sip:alice@pbx.example.com', null],
  ])('say of %s: %j', (to, verdict) => {
    expect(forbiddenBecause(to, lists)).toBe(verdict);
  });

  it('allow everything when they are empty or absent', () => {
    expect(forbiddenBecause('+19005550123', {})).toBeNull();
    expect(forbiddenBecause('+19005550123', { allowed_prefixes: [], blocked_prefixes: null })).toBeNull();
  });

  it('block a number however it is written', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{6,12}$/);
    const writing = fc.constantFrom(
      (number: string) => `+${number}`,
      (number: string) => number,
      (number: string) => `00${number}`,
      (number: string) => `011${number}`,
      (number: string) => `tel:+${number}`,
      (number: string) => `sip:+${number}@a.example.com`,
      (number: string) => `sip:%2B${number};user=phone@a.example.com`,
      (number: string) => `sips:${[...number].join('-')}@a.example.com`,
      (number: string) => `*21*00${number}#`,
    );
    fc.assert(
      fc.property(digits, writing, (number, write) => {
        const blocked = [`+${number.slice(0, 4)}`];
        expect(forbiddenBecause(write(number), { blocked_prefixes: blocked })).not.toBeNull();
        expect(forbiddenBecause(write(number), { allowed_prefixes: ['+0'] })).not.toBeNull();
      }),
    );
  });
});
