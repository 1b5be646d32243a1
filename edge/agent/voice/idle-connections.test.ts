import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { IdleConnections } from './idle-connections.ts';
import type { VoiceConnection } from './voice-connection.ts';

it('closes a connection that becomes idle after the voice was closed', () => {
  let closed = 0;
  const connection = { close: () => closed++, lost: () => undefined } as unknown as VoiceConnection;
  const idle = new IdleConnections(new FakeClock());
  idle.close();
  idle.keep('key', connection);
  expect(closed).toBe(1);
  expect(idle.take('key')).toBeNull();
});
