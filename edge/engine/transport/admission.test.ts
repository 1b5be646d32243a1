import { describe, expect, it, test, vi } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Admission, type Verdict } from './admission.ts';
import type { ConnectionSlot } from './connection-slot.ts';
import { KnownSources } from './known-sources.ts';
import { DEFAULT_TRANSPORT_LIMITS } from './limits.ts';

const known = ['192.0.2.0/28', '2001:db8::/48'];

function admission(
  limits: Partial<typeof DEFAULT_TRANSPORT_LIMITS> = {},
  sources: readonly string[] = known,
) {
  const clock = new FakeClock();
  const gate = new Admission({ ...DEFAULT_TRANSPORT_LIMITS, ...limits }, clock);
  gate.setKnown({ org: sources });
  /** Evicted connections, by address. */
  const evicted: string[] = [];
  const visit = (address: string): Verdict => gate.admit(address, () => evicted.push(address));
  const answer = (address: string): string => {
    const verdict = visit(address);
    return verdict.admitted ? 'admitted' : verdict.reason;
  };
  const enter = (address: string): ConnectionSlot => {
    const verdict = visit(address);
    if (!verdict.admitted) throw new Error(`${address}: ${verdict.reason}`);
    return verdict.slot;
  };
  return { clock, gate, evicted, answer, enter };
}

const a = '192.0.2.1';
const b = '192.0.2.2';

describe('a known source', () => {
  it('is admitted up to the per-address limit, and again after a release', () => {
    const { gate, answer, enter } = admission({ maxConnectionsPerAddress: 2 });
    const slot = enter(a);
    enter(a);
    expect(answer(a)).toBe('too many connections from this address');
    expect(answer(b)).toBe('admitted');
    gate.release(slot);
    gate.release(slot);
    expect(answer(a)).toBe('admitted');
    expect(answer(a)).toBe('too many connections from this address');
  });

  it('is admitted up to the total limit', () => {
    const { gate, answer, enter } = admission({ maxConnections: 2 });
    const slot = enter(a);
    enter(b);
    expect(answer('192.0.2.3')).toBe('too many connections');
    gate.release(slot);
    expect(answer('192.0.2.3')).toBe('admitted');
    expect(gate.open).toBe(2);
  });

  it('is admitted up to its rate per second, counting connections that have ended', () => {
    const { gate, clock, answer, enter } = admission({ handshakesPerSecond: 2 });
    const visit = () => gate.release(enter(a));
    const over = 'too many new connections per second from this address';
    visit();
    visit();
    expect(answer(a)).toBe(over);
    clock.advance(500);
    visit();
    expect(answer(a)).toBe(over);
    clock.advance(60_000);
    visit();
    visit();
    expect(answer(a)).toBe(over);
  });

  it('is admitted at once, whatever strangers hold', () => {
    const { gate, answer, enter, evicted } = admission({ maxConnections: 10, strangersPerNetwork: 3 });
    for (let i = 0; i < 20; i++) answer(`198.51.${i}.1`);
    expect([gate.open, gate.strangers]).toEqual([5, 5]);
    for (let i = 0; i < 10; i++) enter(a);
    expect([gate.open, gate.strangers, gate.evicted, evicted.length]).toEqual([10, 0, 5, 5]);
    expect(answer(b)).toBe('too many connections');
  });

  it('is not blocked, but unknown addresses in its /64 are', () => {
    const { gate, answer } = admission({}, ['2001:db8::1', a]);
    gate.block('2001:db8::1', 60_000);
    gate.block(a, 60_000);
    expect([answer(a), answer('2001:db8::1'), answer('2001:db8::2')]).toEqual([
      'admitted',
      'admitted',
      'address is blocked',
    ]);
  });

  it('is never evicted for a stranger, nor for an organization that holds as much', () => {
    const { answer, enter, evicted } = admission({ maxConnections: 4 });
    for (const address of [a, a, a]) enter(address);
    expect(answer('198.51.100.1')).toBe('admitted');
    expect(answer('198.51.101.1')).toBe('too many connections');
    expect(answer(b)).toBe('admitted');
    expect(answer(b)).toBe('too many connections');
    expect(evicted).toEqual(['198.51.100.1']);
  });
});

describe('organizations', () => {
  const tenants = { big: ['192.0.2.0/24', '2001:db8::/32'], small: ['203.0.113.7'], other: ['203.0.113.8'] };
  const full = (limits = {}) => {
    const all = admission({ maxConnections: 8, ...limits });
    all.gate.setKnown(tenants);
    return all;
  };

  it('have one share each: whatever its addresses, an organization yields to those that hold less', () => {
    const { gate, enter, answer, evicted } = full();
    for (let i = 1; i <= 4; i++) enter(`192.0.2.${i}`).spoke();
    for (let i = 1; i <= 4; i++) enter(`2001:db8:${i}::1`);
    expect(answer('192.0.2.9')).toBe('too many connections');
    expect(answer('203.0.113.7')).toBe('admitted');
    expect(answer('203.0.113.8')).toBe('admitted');
    // Among the silent connections, the oldest.
    expect(evicted).toEqual(['2001:db8:1::1', '2001:db8:2::1']);
    expect([gate.open, gate.yielded, gate.evicted]).toEqual([8, 2, 0]);
    for (let i = 0; i < 2; i++) expect(answer('203.0.113.7')).toBe('admitted');
    // 4, 3 and 1 now: nobody holds more than the newcomer would.
    expect([answer('203.0.113.7'), answer('192.0.2.9')]).toEqual(Array(2).fill('too many connections'));
    expect(answer('203.0.113.8')).toBe('admitted');
  });

  it('keep every connection that a dialog or an unanswered request needs', () => {
    const { enter, answer, evicted } = full({ maxConnections: 4 });
    const slots = [1, 2, 3, 4].map((host) => enter(`192.0.2.${host}`));
    for (const slot of slots) slot.pin();
    expect(answer('203.0.113.7')).toBe('too many connections');
    slots[2]?.unpin();
    expect(answer('203.0.113.7')).toBe('admitted');
    expect(evicted).toEqual(['192.0.2.3']);
  });

  it('that name the same source share it: it counts for none of them alone', () => {
    const { gate, enter, answer, evicted } = full({ maxConnections: 6 });
    gate.setKnown({ ...tenants, carriers: ['192.0.2.200'] });
    for (let i = 0; i < 2; i++) enter('192.0.2.200');
    for (let i = 1; i <= 4; i++) enter(`192.0.2.${i}`);
    expect(answer('192.0.2.200')).toBe('admitted');
    expect(evicted).toEqual(['192.0.2.1']);
  });

  it('cannot get a second share by listing a source twice or by nesting networks', () => {
    const { gate, enter, answer } = full({ maxConnections: 4 });
    gate.setKnown({ big: ['192.0.2.0/24', '192.0.2.7', '192.0.2.7/32', '192.0.2.0/28'], small: [] });
    for (let i = 5; i <= 8; i++) enter(`192.0.2.${i}`);
    expect(answer('192.0.2.7')).toBe('too many connections');
    expect(answer('192.0.2.77')).toBe('too many connections');
  });

  it('open a limited number of connections per second, from any number of addresses', () => {
    const { gate, clock, enter, answer } = full({ handshakesPerSecond: 2 });
    // They end at once, so only the rate counts.
    const visit = (address: string) => gate.release(enter(address));
    for (let i = 1; i <= 4; i++) visit(`192.0.2.${i}`);
    const over = 'too many new connections per second from this organization';
    expect(answer('192.0.2.9')).toBe(over);
    expect(answer('2001:db8:9::1')).toBe(over);
    expect(answer('203.0.113.7')).toBe('admitted');
    clock.advance(250);
    visit('192.0.2.9');
    expect(answer('192.0.2.10')).toBe(over);
    clock.advance(60_000);
    gate.prune();
    for (let i = 1; i <= 4; i++) visit(`192.0.2.${i}`);
    expect(answer('192.0.2.9')).toBe(over);
  });

  it('keep their counts when the configuration changes', () => {
    const { gate, enter, answer, evicted } = full({ maxConnections: 4 });
    const slots = [1, 2, 3, 4].map((host) => enter(`192.0.2.${host}`));
    gate.setKnown({ big: ['192.0.2.0/30'], next: ['192.0.2.4'] });
    expect(gate.strangers).toBe(0);
    expect(answer('192.0.2.4')).toBe('admitted');
    expect(evicted).toEqual(['192.0.2.1']);
    for (const slot of slots) gate.release(slot);
    expect(gate.open).toBe(1);
  });
});

describe('a stranger', () => {
  it.each([
    [
      'an address',
      ['198.51.100.1', '198.51.100.1', '198.51.100.1'],
      'too many connections from this address',
    ],
    [
      'a /24',
      ['198.51.100.1', '198.51.100.1', '198.51.100.2', '198.51.100.3'],
      'too many connections from this network',
    ],
    [
      'a /64',
      ['2001:db9::1', '2001:db9::2', '2001:db9::3', '2001:db9:0:0:ff::'],
      'too many connections from this network',
    ],
  ])('is limited by %s', (_what, addresses, refusal) => {
    const { answer } = admission({ strangersPerAddress: 2, strangersPerNetwork: 3 });
    const answers = addresses.map(answer);
    expect(answers.slice(0, -1).every((each) => each === 'admitted')).toBe(true);
    expect(answers.at(-1)).toBe(refusal);
  });

  it('is limited in new connections per second, per network and in total', () => {
    const { answer, clock } = admission({ strangerHandshakesPerNetwork: 2, strangerHandshakesPerSecond: 3 });
    const network = 'too many new connections per second from this network';
    const all = 'too many new connections per second from unknown sources';
    const visits = ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.101.1', '198.51.102.1', a];
    expect(visits.map(answer)).toEqual(['admitted', 'admitted', network, 'admitted', all, 'admitted']);
    clock.advance(1000);
    expect(answer('198.51.100.1')).toBe('admitted');
  });

  it('gets room from the network that holds most: a silent connection ends first, then the longest idle', () => {
    const { enter, answer, evicted } = admission({ maxConnections: 8 });
    const [first, second, third] = [1, 2, 3].map((host) => enter(`198.51.100.${host}`));
    first?.spoke();
    third?.spoke();
    second?.spoke();
    const silent = enter('198.51.100.4');
    silent.ready(() => evicted.push('the connection of 198.51.100.4'));
    expect(answer('203.0.113.1')).toBe('admitted');
    expect(evicted).toEqual(['the connection of 198.51.100.4']);
    first?.pin();
    expect(answer('203.0.113.2')).toBe('admitted');
    expect(evicted.slice(1)).toEqual(['198.51.100.3']);
    // Two each now: nobody holds more than the newcomer would.
    expect(answer('203.0.113.3')).toBe('too many connections');
  });

  it('is never evicted while a dialog needs its connection', () => {
    const { enter, answer, evicted } = admission({ maxConnections: 4 });
    for (const host of [1, 2]) enter(`198.51.100.${host}`).pin();
    expect(answer('203.0.113.1')).toBe('too many connections');
    for (const address of [a, a]) enter(address);
    expect(answer(a)).toBe('too many connections');
    expect(evicted).toEqual([]);
  });

  it('becomes known when the configuration names it, and the other way round', () => {
    const { gate, enter } = admission();
    const slot = enter('198.51.100.1');
    const carrier = enter(a);
    expect([slot.known, carrier.known, gate.strangers]).toEqual([false, true, 1]);
    gate.setKnown({ org: ['198.51.100.0/24'] });
    expect([slot.known, carrier.known, gate.strangers]).toEqual([true, false, 1]);
    gate.release(slot);
    gate.release(carrier);
    expect([gate.open, gate.strangers]).toEqual([0, 0]);
  });
});

test('forgetting idle sources does not refill their tokens early', () => {
  const { gate, clock, answer, enter } = admission({ handshakesPerSecond: 1 });
  gate.release(enter(a));
  clock.advance(999);
  gate.prune();
  expect(answer(a)).toBe('too many new connections per second from this address');
});

test('a block ends on its own', () => {
  const { gate, clock, answer } = admission();
  gate.block('198.51.100.1', 60_000);
  expect(answer('198.51.100.1')).toBe('address is blocked');
  expect(answer('198.51.100.2')).toBe('admitted');
  clock.advance(60_000);
  expect(answer('198.51.100.1')).toBe('admitted');
});

test('a block can be lifted, and is forgotten after its end', () => {
  const { gate, clock } = admission();
  gate.block('198.51.100.1', 1000);
  gate.block('198.51.100.2', 1000);
  gate.unblock('198.51.100.1');
  expect(gate.isBlocked('198.51.100.1')).toBe(false);
  expect(gate.blocked).toBe(1);
  clock.advance(1000);
  gate.prune();
  expect(gate.blocked).toBe(0);
});

describe('an address that connects again and again', () => {
  it('is searched among the known sources once', () => {
    const { gate, enter } = admission();
    const searches = vi.spyOn(KnownSources.prototype, 'shareOf');
    for (const address of [a, a, '198.51.100.1', '198.51.100.1']) gate.release(enter(address));
    expect(searches.mock.calls).toEqual([[a], ['198.51.100.1']]);
    searches.mockRestore();
  });

  it('is what the configuration says now, also when it has no connection while that changes', () => {
    const { gate, enter } = admission();
    gate.release(enter(a));
    gate.release(enter('198.51.100.1'));
    gate.setKnown({ other: ['198.51.100.0/24'] });
    expect([enter(a).known, enter('198.51.100.1').known]).toEqual([false, true]);
  });

  it('is refused once it is blocked', () => {
    const { gate, enter, answer } = admission();
    gate.release(enter('198.51.100.1'));
    gate.block('198.51.100.1', 1000);
    expect(answer('198.51.100.1')).toBe('address is blocked');
  });
});
