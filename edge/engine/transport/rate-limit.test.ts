import { expect, it } from 'vitest';
import { RateLimit } from './rate-limit.ts';

function admitted(limit: RateLimit, address: string, count: number, now: number): number {
  let passed = 0;
  for (let i = 0; i < count; i++) if (limit.admit(address, now)) passed++;
  return passed;
}

it("passes a burst of two seconds' worth, then the rate", () => {
  const limit = new RateLimit(10);
  expect(admitted(limit, 'a', 30, 0)).toBe(20);
  expect(admitted(limit, 'a', 30, 500)).toBe(5);
  expect(admitted(limit, 'a', 30, 60_000)).toBe(20);
});

it('counts each source separately', () => {
  const limit = new RateLimit(1);
  expect(admitted(limit, 'a', 5, 0)).toBe(2);
  expect(admitted(limit, 'b', 5, 0)).toBe(2);
});

it('forgets the longest silent source when its memory is full', () => {
  const limit = new RateLimit(1);
  expect(admitted(limit, 'a', 5, 0)).toBe(2);
  expect(admitted(limit, 'b', 5, 0)).toBe(2);
  for (let source = 0; source < 9_998; source++) limit.admit(`${source}`, 0);
  expect(admitted(limit, 'a', 5, 0)).toBe(0);
  limit.admit('one more', 0);
  expect(admitted(limit, 'a', 5, 0)).toBe(0);
  expect(admitted(limit, 'b', 5, 0)).toBe(2);
});

it('counts the addresses of an IPv6 /64 together, whichever sends', () => {
  const limit = new RateLimit(1);
  expect(limit.admit('2001:db8::1', 0)).toBe(true);
  expect(limit.admit('2001:db8::2', 0)).toBe(true);
  expect(limit.admit('2001:db8::1', 0)).toBe(false);
  expect(limit.admit('2001:db8:0:1::1', 0)).toBe(true);
});
