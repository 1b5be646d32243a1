import { describe, expect, it } from 'vitest';
import { saidDifference } from './differences.ts';

describe('a difference from the first cell', () => {
  it('is certain when its interval is on one side of 0', () => {
    const worse = { value: -0.8, interval: { low: -0.9193, high: -0.5305 } };
    expect(saidDifference(worse)).toEqual({ value: '-80%', interval: '-92% to -53%', certain: 'worse' });
    const better = { value: 0.5, interval: { low: 0.1, high: 0.7 } };
    expect(saidDifference(better)).toMatchObject({ value: '+50%', certain: 'better' });
    expect(saidDifference({ value: 0, interval: { low: -0.2, high: 0.2 } })).toEqual({
      value: '0%',
      interval: '-20% to +20%',
      certain: null,
    });
  });

  it('says when there is no interval', () => {
    const { certain, interval } = saidDifference({ value: -1, interval: null });
    expect([certain, interval]).toEqual([null, 'no interval: too few distinct conversations']);
  });
});
