import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { echoAgent } from '../../../../test/kit/fakes/fake-agents.ts';
import { PhoneAgents } from './phone-agents.ts';

const start = Date.UTC(2030, 0, 1);
const one = (session_id: string, org_id = 'org-1', lifeMs = 60_000) => ({
  session_id,
  org_id,
  name: 'Booking',
  agent: echoAgent,
  expires_at: start + lifeMs,
});

it('is kept until its session expires', () => {
  const clock = new FakeClock(start);
  const agents = new PhoneAgents(clock);
  agents.expect(one('a'));
  clock.advance(59_999);
  expect(agents.find('a')?.name).toBe('Booking');
  clock.advance(1);
  expect(agents.find('a')).toBeUndefined();
});

it('an organization has at most 100, and takes no place of others; one that is told again takes none', () => {
  const clock = new FakeClock(start);
  const agents = new PhoneAgents(clock, 150);
  for (let count = 0; count < 100; count++) agents.expect(one(`a${count}`));
  expect(() => agents.expect(one('a100'))).toThrow(expect.objectContaining({ code: 'QUOTA_EXCEEDED' }));
  agents.expect(one('a0'));
  for (let count = 0; count < 50; count++) agents.expect(one(`b${count}`, 'org-2', 120_000));
  expect(() => agents.expect(one('c', 'org-3'))).toThrow(expect.objectContaining({ code: 'QUOTA_EXCEEDED' }));
  clock.advance(60_000);
  agents.expect(one('c', 'org-3', 120_000));
  expect(agents.find('b0')).toBeDefined();
});
