import { describe, expect, it } from 'vitest';
import { addBusinessDays, expectedCompletion, isBusinessDay } from './business-days.ts';

describe('business days', () => {
  it.each([
    ['2030-01-01', false, 'New Year'],
    ['2030-01-02', true, 'a Wednesday'],
    ['2030-01-05', false, 'a Saturday'],
    ['2030-01-06', false, 'a Sunday'],
    ['2030-01-21', false, 'Martin Luther King Jr. Day'],
    ['2030-07-04', false, 'Independence Day'],
    ['2030-11-28', false, 'Thanksgiving'],
    ['2027-07-05', false, 'the Monday after an Independence Day on a Sunday'],
    ['2027-12-24', false, 'the Friday before a Christmas Day on a Saturday'],
  ])('%s: %s, %s', (date, expected) => {
    expect(isBusinessDay(date)).toBe(expected);
  });

  it.each([
    ['2030-01-01', 1, '2030-01-02'],
    ['2030-01-04', 1, '2030-01-07'],
    ['2030-01-18', 1, '2030-01-22'],
    ['2029-12-24', 7, '2030-01-04'],
  ])('%s plus %i is %s', (date, days, expected) => {
    expect(addBusinessDays(date, days)).toBe(expected);
  });
});

describe('the expected completion', () => {
  it('is 7 to 14 business days from the signature', () => {
    expect(expectedCompletion('2030-01-02', '2030-01-08', null)).toEqual({
      earliest: '2030-01-11',
      latest: '2030-01-23',
    });
  });

  it('is not before the requested date, and on a business day', () => {
    expect(expectedCompletion('2030-01-02', '2030-01-19', null)).toEqual({
      earliest: '2030-01-22',
      latest: '2030-01-23',
    });
  });

  it('is the date that the losing carrier confirmed', () => {
    expect(expectedCompletion('2030-01-02', '2030-01-08', '2030-02-01')).toEqual({
      earliest: '2030-02-01',
      latest: '2030-02-01',
    });
  });
});
