import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { IdleConnections } from './idle-connections.ts';

it('closes a connection that becomes idle after the voice was closed', () => {
  let closed = 0;
  const connection = { close: () => void closed++, lost: () => undefined };
  const idle = new IdleConnections<typeof connection>(new FakeClock());
  idle.close();
  idle.keep('key', connection);
  expect(closed).toBe(1);
  expect(idle.take('key')).toBeNull();
});
