import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Strangers } from './strangers.ts';

const limits = { tries: 3, windowS: 60, blockS: 600, maxSources: 2 };

describe('a stranger', () => {
  it('is blocked at the last allowed attempt, and unblocked when the time is over', () => {
    const clock = new FakeClock();
    const strangers = new Strangers(clock, limits);
    expect([strangers.tried('a'), strangers.tried('a')]).toEqual([0, 0]);
    expect(strangers.isBlocked('a')).toBe(false);
    expect(strangers.tried('a')).toBe(600);
    expect(strangers.isBlocked('a')).toBe(true);
    expect(strangers.isBlocked('b')).toBe(false);
    clock.advance(600_000);
    expect(strangers.isBlocked('a')).toBe(false);
    expect(strangers.size).toBe(0);
    expect(strangers.tried('a')).toBe(0);
  });

  it('is not blocked for attempts further apart than the window', () => {
    const clock = new FakeClock();
    const strangers = new Strangers(clock, limits);
    for (let i = 0; i < 10; i++) {
      expect(strangers.tried('a')).toBe(0);
      clock.advance(30_000);
    }
  });

  it('is forgotten when others were seen later and the memory is full', () => {
    const strangers = new Strangers(new FakeClock(), limits);
    strangers.tried('a');
    strangers.tried('b');
    strangers.tried('a');
    strangers.tried('c');
    expect(strangers.size).toBe(2);
    expect(strangers.tried('a')).toBe(600);
    expect(strangers.tried('b')).toBe(0);
  });
});
