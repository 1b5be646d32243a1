import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Admission } from './admission.ts';
import { DEFAULT_TRANSPORT_LIMITS } from './limits.ts';

function admission(limits: Partial<typeof DEFAULT_TRANSPORT_LIMITS>) {
  const clock = new FakeClock();
  return { clock, gate: new Admission({ ...DEFAULT_TRANSPORT_LIMITS, ...limits }, clock) };
}

test('admits up to the limit of an address and again after a release', () => {
  const { gate } = admission({ maxConnectionsPerAddress: 2 });
  expect(gate.admit('a')).toBe('admitted');
  expect(gate.admit('a')).toBe('admitted');
  expect(gate.admit('a')).toBe('too many connections of this address');
  expect(gate.admit('b')).toBe('admitted');
  gate.release('a');
  expect(gate.admit('a')).toBe('admitted');
});

test('admits up to the limit of all addresses', () => {
  const { gate } = admission({ maxConnections: 2 });
  gate.admit('a');
  gate.admit('b');
  expect(gate.admit('c')).toBe('too many connections');
  gate.release('a');
  expect(gate.admit('c')).toBe('admitted');
  expect(gate.open).toBe(2);
});

test('admits as many new connections per second as allowed, connections that ended included', () => {
  const { gate, clock } = admission({ handshakesPerSecond: 2 });
  const visit = () => {
    const verdict = gate.admit('a');
    if (verdict === 'admitted') gate.release('a');
    return verdict;
  };
  expect([visit(), visit(), visit()]).toEqual([
    'admitted',
    'admitted',
    'too many new connections per second of this address',
  ]);
  clock.advance(500);
  expect([visit(), visit()]).toEqual(['admitted', 'too many new connections per second of this address']);
  clock.advance(60_000);
  expect([visit(), visit(), visit()].filter((verdict) => verdict === 'admitted')).toHaveLength(2);
});

test('forgetting idle sources does not refill their allowance early', () => {
  const { gate, clock } = admission({ handshakesPerSecond: 1 });
  gate.admit('a');
  gate.release('a');
  clock.advance(999);
  gate.prune();
  expect(gate.admit('a')).toBe('too many new connections per second of this address');
});

test('a block ends by itself', () => {
  const { gate, clock } = admission({});
  gate.block('a', 60_000);
  expect(gate.admit('a')).toBe('address is blocked');
  expect(gate.admit('b')).toBe('admitted');
  clock.advance(60_000);
  expect(gate.admit('a')).toBe('admitted');
});

test('a block can be lifted, and is forgotten after its end', () => {
  const { gate, clock } = admission({});
  gate.block('a', 1000);
  gate.block('b', 1000);
  gate.unblock('a');
  expect(gate.isBlocked('a')).toBe(false);
  expect(gate.blocked).toBe(1);
  clock.advance(1000);
  gate.prune();
  expect(gate.blocked).toBe(0);
});
