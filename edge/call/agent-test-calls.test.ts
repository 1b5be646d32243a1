import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { AgentTestCalls } from './agent-test-calls.ts';

const call = { number: '+14155550100', sipCallId: 'c1' };
const visit = { ...call, plan: <T>(plan: T) => plan, changes: {} };

test('the key admits the call it was made for, once', () => {
  const visits = new AgentTestCalls(new FakeClock());
  const { key } = visits.expect(visit, 1000);
  expect(visits.claim('another', call)).toBeNull();
  expect(visits.claim(key, call)).toBe(visit);
  expect(visits.claim(key, call)).toBeNull();
  expect(visits.size).toBe(0);
});

test.each([
  { ...call, number: '+14155550101' },
  { ...call, sipCallId: 'c2' },
])('a key shown for another call is used up', (other) => {
  const visits = new AgentTestCalls(new FakeClock());
  const { key } = visits.expect(visit, 1000);
  expect(visits.claim(key, other)).toBeNull();
  expect(visits.claim(key, call)).toBeNull();
});

test('a key expires', () => {
  const clock = new FakeClock();
  const visits = new AgentTestCalls(clock);
  const { key } = visits.expect(visit, 1000);
  clock.advance(1000);
  expect(visits.claim(key, call)).toBeNull();
});

test('a withdrawn key admits no call, and leaves no timer', () => {
  const clock = new FakeClock();
  const visits = new AgentTestCalls(clock);
  const { key, withdraw } = visits.expect(visit, 1000);
  withdraw();
  expect(visits.claim(key, call)).toBeNull();
  expect(clock.pending).toBe(0);
});
