import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forbiddenBecause, readingsOf } from './limits-destination.ts';

describe('how a trunk may read the number in a destination', () => {
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
    ['sip:+008821612345@pbx.example.com', ['+8821612345']],
    ['sip:00008821612345@pbx.example.com', ['+8821612345']],
    ['sip:9005550100;phone-context=+1@pbx.example.com', ['+9005550100', '+19005550100']],
    ['sip:x+882161234567@pbx.example.com', ['+882161234567']],
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
  ])('%s is not a number', (to) => {
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
    ['+33112345678', 'no allowed prefix matches'],
    ['sip:0019005550123@elsewhere.example.com', 'prefix +1900 is blocked'],
    ['*21*0033112345678#', 'no allowed prefix matches'],
    ['*1415*0033112345678#', 'no allowed prefix matches'],
    ['1001', null],
    ['sip:alice@pbx.example.com', null],
  ])('give for %s: %j', (to, verdict) => {
    expect(forbiddenBecause(to, lists)).toBe(verdict);
  });

  it('allow everything when they are empty or absent', () => {
    expect(forbiddenBecause('+19005550123', {})).toBeNull();
    expect(forbiddenBecause('+19005550123', { allowed_prefixes: [], blocked_prefixes: null })).toBeNull();
  });

  it.each([
    '*6719005550100',
    '*67+19005550100',
    'sip:*6719005550100@a.example.com',
    '#31#19005550100',
    '#3119005550100',
    '*21*1900*5550100#',
    'sip:9005550100;phone-context=+1@a.example.com',
    'sip:9005550100@a.example.com;phone-context=+1',
    'sip:5550100;phone-context=+1-900@a.example.com',
    'tel:9005550100;phone-context=+1',
    'sip:+0019005550100@a.example.com',
    'sip:+01119005550100@a.example.com',
    'sip:000019005550100@a.example.com',
    'sip:00019005550100@a.example.com',
    'sip:001119005550100@a.example.com',
    'sip:x+19005550100@a.example.com',
    'p19005550100',
    '1900x5550100',
    "sip:1900'5550100@a.example.com",
    'sip:1900,5550100@a.example.com',
    'sip:+1%E2%80%8B9005550100@a.example.com',
    'sip:tel:+19005550100@a.example.com',
    'sip:a%3B19005550100@a.example.com',
    'sip:$19005550100@a.example.com',
    'sip:%2519005550100@a.example.com',
  ])('block what a trunk may dial for %s', (to) => {
    expect(forbiddenBecause(to, { blocked_prefixes: ['+1900'] })).toBe('prefix +1900 is blocked');
  });

  it.each([
    ['sip:１９００５５５０１００@a.example.com', 'it contains characters that are not valid in a number'],
    ["sip:44'2012345678@a.example.com", 'it contains characters that are not valid in a number'],
    ['sip:5550100;phone-context=pbx.example.com@a.example.com', 'the number is local to pbx.example.com'],
    ['sip:1001;phone-context=pbx.example.com@a.example.com', null],
    ["sip:o'brien@a.example.com", null],
    ['sip:alice.smith@a.example.com', null],
    ['+1 (415) 555-0123', null],
    ['*6714155550123', null],
    ['4419005550100', null],
  ])('give for %s, ambiguous or plain: %j', (to, verdict) => {
    expect(forbiddenBecause(to, { blocked_prefixes: ['+1900'] })).toBe(verdict);
  });

  it('reject a blocked number with anything around and between its digits', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{6,12}$/);
    const noise = fc.string({ unit: 'grapheme', maxLength: 3 }).map((text) => text.replace(/\p{N}/gu, ''));
    const noises = fc.array(noise, { minLength: 14, maxLength: 14 });
    const before = fc.constantFrom('', '+', '00', '011', '+00', '0000', '*67', '*67*', '#31#', '##0', '+011');
    fc.assert(
      fc.property(digits, noises, before, fc.boolean(), (number, between, prefix, asUri) => {
        const noisy = [...number].map((digit, index) => digit + (between[index] ?? '')).join('');
        const text = `${prefix}${between.at(-1)}${noisy}`;
        const to = asUri ? `sip:${encodeURIComponent(text.toWellFormed())}@a.example.com` : text;
        expect(forbiddenBecause(to, { blocked_prefixes: [`+${number.slice(0, 4)}`] })).not.toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  it('block a number in every notation', () => {
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
