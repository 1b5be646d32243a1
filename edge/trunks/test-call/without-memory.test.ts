import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { endpoint, route } from '../../../test/kit/edge/trunks.ts';
import { Failover, type Move } from '../failover.ts';
import { failoverMemory } from '../failover-store.ts';
import { TrunkHunt } from '../hunt.ts';
import { withoutMemory } from './without-memory.ts';

test('the hunt of a test call tries endpoints known to be dead, and moves no trunk', async () => {
  const clock = new FakeClock();
  const moves: Move[] = [];
  const failover = new Failover({
    clock,
    store: failoverMemory(),
    moved: (move) => moves.push(move),
    failbackAfter: 3,
    failoverAfter: 1,
    forgetAfterMs: 600_000,
  });
  const primary = endpoint('one.example.com', 0);
  const trunk = route('t', ['one.example.com', 'two.example.com']);
  failover.configure([trunk]);
  failover.probed(primary, false);
  expect(failover.activePriority('t')).toBe(1);
  moves.length = 0;

  const hunt = new TrunkHunt([trunk], {
    clock,
    failover: withoutMemory,
    resolve: async ({ host, port }) => ({
      ok: true,
      targets: [{ host, address: '203.0.113.1', port, serverName: host }],
    }),
    maxTargets: 8,
  });
  expect((await hunt.next())?.target.host).toBe('one.example.com');
  expect(hunt.ended({ kind: 'final', status: 403, phase: 'silent', credentialsSent: true })).toEqual({
    movesOn: true,
  });
  expect((await hunt.next())?.target.host).toBe('two.example.com');
  expect(hunt.ended({ kind: 'no_response' })).toEqual({ movesOn: true });
  expect(await hunt.next()).toBeNull();
  expect(hunt.attempts.map(({ host, sip_code }) => [host, sip_code])).toEqual([
    ['one.example.com', 403],
    ['two.example.com', null],
  ]);
  expect(moves).toEqual([]);
  expect(failover.health(endpoint('two.example.com', 1)).status).toBe('unchecked');
  expect(failover.activePriority('t')).toBe(1);
  failover.close();
});
