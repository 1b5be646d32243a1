import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { PhoneClaims } from '#shared/phone-session.ts';
import { PhoneUses } from './phone-uses.ts';

const start = Date.UTC(2030, 0, 1);
const session = (id: string, issuedAt: number): PhoneClaims => ({
  id,
  org_id: 'o',
  edge_id: 'e',
  number: '+14155550100',
  caller: 'Ada',
  issued_at: issuedAt,
  expires_at: issuedAt + 60_000,
  calls: 1,
  generation: 0,
});

it('forgets sessions that have expired', () => {
  const clock = new FakeClock(start);
  const uses = new PhoneUses(clock, 10);
  uses.count(session('a', start));
  clock.advance(60_000);
  uses.count(session('b', start + 60_000));
  expect(uses.size).toBe(1);
});

it('accepts none again that it had to forget, nor any that is older', () => {
  const uses = new PhoneUses(new FakeClock(start), 2);
  const [a, b, c] = [session('a', start + 5), session('b', start + 1), session('c', start + 9)];
  for (const one of [a, b, c]) {
    expect(uses.state(one)).toBe('free');
    uses.count(one);
  }
  expect([a, b, c].map((one) => uses.state(one))).toEqual(['unknown', 'used_up', 'used_up']);
  expect(uses.state(session('d', start + 5))).toBe('unknown');
  expect(uses.state(session('e', start + 6))).toBe('free');
});
