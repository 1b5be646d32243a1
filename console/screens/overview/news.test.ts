/** Which events make the first screen read again. */
import { expect, it } from 'vitest';
import { isAlert, isTestRun, mayChangeHealth, overviewEvents } from './news.ts';

const number = '+14155550100';
const probe = (healthy: boolean, of = number) => ({
  type: 'trunk.health',
  subject: { number: of },
  data: { probe: { healthy } },
});
const seen = (health_status: string) => [{ phone_number: number, health_status }];

it('reads trunks when a probe says something else than the screen', () => {
  expect(mayChangeHealth(probe(true), seen('healthy'))).toBe(false);
  expect(mayChangeHealth(probe(false), seen('unreachable'))).toBe(false);
  expect(mayChangeHealth(probe(false), seen('healthy'))).toBe(true);
  expect(mayChangeHealth(probe(true), seen('unreachable'))).toBe(true);
  expect(mayChangeHealth(probe(true), seen('unchecked'))).toBe(true);
  expect(mayChangeHealth(probe(true, '+14155550199'), seen('healthy'))).toBe(true);
});

it('reads trunks when one has moved or registered, and not for what else comes over the stream', () => {
  const plain = { subject: { number }, data: {} };
  const types = ['trunk.moved', 'registration.changed', 'alert.raised', 'call.updated', 'test_run.ended'];
  const read = types.filter((type) => mayChangeHealth({ type, ...plain }, seen('healthy')));
  expect(read).toEqual(['trunk.moved', 'registration.changed']);
  expect(types.filter((type) => isAlert({ type }))).toEqual(['alert.raised']);
  expect(types.filter((type) => isTestRun({ type }))).toEqual(['test_run.ended']);
  const asked = overviewEvents.types.split(',');
  expect(types.filter((type) => !asked.includes(type) && !asked.includes(type.split('.')[0] ?? ''))).toEqual(
    [],
  );
});
