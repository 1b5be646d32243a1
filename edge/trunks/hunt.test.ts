import { beforeEach, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { endpoint, route, target } from '../../test/kit/edge/trunks.ts';
import type { AttemptOutcome } from '../call/ports/routes.ts';
import { Failover } from './failover.ts';
import { failoverMemory } from './failover-store.ts';
import { TrunkHunt } from './hunt.ts';
import type { Resolution } from './resolve.ts';

const refused: AttemptOutcome = { kind: 'no_connection', failure: connectionFailure('refused', 'refused') };
const silent: AttemptOutcome = { kind: 'no_response' };
const final = (status: number, rang = false): AttemptOutcome => ({
  kind: 'final',
  status,
  phase: rang ? 'ringing' : 'silent',
  credentialsSent: true,
});

let clock: FakeClock;
let failover: Failover;
/** Addresses of each host; default: its own name. */
let addresses: Record<string, readonly string[]>;

beforeEach(() => {
  clock = new FakeClock();
  addresses = {};
  failover = new Failover({
    clock,
    store: failoverMemory(),
    moved: () => {},
    failbackAfter: 3,
    failoverAfter: 1,
    forgetAfterMs: 600_000,
  });
});

async function resolve({ host, port }: { host: string; port: number }): Promise<Resolution> {
  const found = addresses[host] ?? [host];
  if (found.length === 0) return { ok: false, code: 'dns_failure', message: `${host} has no address` };
  return { ok: true, targets: found.map((address) => target(address, host, port)) };
}

/** Runs a hunt to its end; each attempt takes a second. Returns the addresses tried and the hunt. */
async function run(routes: readonly OutboundTrunk[], outcomes: Record<string, AttemptOutcome>) {
  failover.configure(routes);
  const hunt = new TrunkHunt(routes, { clock, failover, resolve, maxTargets: 3 });
  const tried: string[] = [];
  for (let hop = await hunt.next(); hop; hop = await hunt.next()) {
    const address = hop.target.address ?? '';
    tried.push(address);
    clock.advance(1000);
    if (!hunt.ended(outcomes[address] ?? final(200, true)).movesOn) break;
  }
  return { tried, hunt };
}

test('the first endpoint that answers ends the hunt, and nothing is logged', async () => {
  const { tried, hunt } = await run([route('t', ['a', 'b'])], {});
  expect(tried).toEqual(['a']);
  expect(hunt.attempts).toEqual([]);
  expect(await hunt.next()).toBeNull();
});

test('a call fails over through endpoints and records, and logs each attempt', async () => {
  const routes = [route('one', ['a', 'b'], { priority: 1 }), route('two', ['c'], { priority: 2 })];
  const { tried, hunt } = await run(routes, { a: refused, b: final(403), c: final(200) });
  expect(tried).toEqual(['a', 'b', 'c']);
  expect(hunt.attempts).toEqual([
    {
      host: 'a',
      port: 5061,
      priority: 0,
      started_at: '2030-01-01T00:00:00.000Z',
      sip_code: null,
      error: 'unreachable: refused',
      duration_ms: 1000,
    },
    {
      host: 'b',
      port: 5061,
      priority: 1,
      started_at: '2030-01-01T00:00:01.000Z',
      sip_code: 403,
      error: 'auth_failure',
      duration_ms: 1000,
    },
  ]);
});

test.each([404, 480, 486, 500, 603])('%i ends the call', async (status) => {
  const { tried, hunt } = await run([route('t', ['a', 'b'])], { a: final(status) });
  expect(tried).toEqual(['a']);
  expect(hunt.attempts).toEqual([]);
});

test('no failover once the call rang', async () => {
  expect((await run([route('t', ['a', 'b'])], { a: final(503, true) })).tried).toEqual(['a']);
  const lost: AttemptOutcome = {
    kind: 'connection_lost',
    phase: 'ringing',
    failure: connectionFailure('lost', 'reset'),
  };
  expect((await run([route('u', ['c', 'd'])], { c: lost })).tried).toEqual(['c']);
});

test('a trigger that the record does not have ends the call', async () => {
  const one = route('one', ['a', 'b'], { triggers: ['timeout'] });
  const { tried, hunt } = await run([one, route('two', ['c'], { priority: 2 })], { a: refused });
  expect(tried).toEqual(['a']);
  expect(hunt.attempts).toHaveLength(1);
});

test('all targets of an endpoint are tried before it counts as failed, whatever the triggers', async () => {
  addresses = { a: ['a1', 'a2'] };
  const one = route('t', ['a', 'b'], { triggers: ['auth_failure'] });
  const { tried } = await run([one], { a1: refused, a2: final(200) });
  expect(tried).toEqual(['a1', 'a2']);
  expect(failover.activePriority('t')).toBe(0);
  // The next call skips the dead address.
  expect((await run([one], { a2: final(200) })).tried).toEqual(['a2']);
});

test('an endpoint whose targets all fail is followed by the next one', async () => {
  addresses = { a: ['a1', 'a2'] };
  const { tried } = await run([route('t', ['a', 'b'])], { a1: refused, a2: silent });
  expect(tried).toEqual(['a1', 'a2', 'b']);
  expect(failover.activePriority('t')).toBe(1);
});

test('rejected credentials are not retried at the next address of the same system', async () => {
  addresses = { a: ['a1', 'a2'] };
  expect((await run([route('t', ['a', 'b'])], { a1: final(401) })).tried).toEqual(['a1', 'b']);
});

test('a host that cannot be resolved is an unreachable endpoint', async () => {
  addresses = { a: [] };
  const { tried, hunt } = await run([route('t', ['a', 'b'])], {});
  expect(tried).toEqual(['b']);
  expect(hunt.unresolved).toBe('a has no address');
  expect(hunt.attempts).toMatchObject([
    { host: 'a', port: 5061, error: 'unreachable: a has no address', sip_code: null, duration_ms: 0 },
  ]);
});

test('a second call skips the dead primary without waiting', async () => {
  const one = route('t', ['a', 'b']);
  await run([one], { a: refused });
  const { tried, hunt } = await run([one], { a: refused });
  expect(tried).toEqual(['b']);
  expect(hunt.attempts).toMatchObject([
    { host: 'a', error: 'unreachable: failed the last probe or call', duration_ms: 0, sip_code: null },
  ]);
});

test('a skipped endpoint after the one in use is not logged', async () => {
  const one = route('t', ['a', 'b']);
  failover.configure([one]);
  failover.probed(endpoint('b', 1), false);
  expect((await run([one], {})).hunt.attempts).toEqual([]);
});

test('when all fail, the hunt ends with all attempts', async () => {
  const { hunt } = await run([route('t', ['a', 'b'])], { a: refused, b: silent });
  expect(await hunt.next()).toBeNull();
  expect(hunt.attempts.map(({ error }) => error)).toEqual(['unreachable: refused', 'timeout']);
});

test('a hop has everything the call needs of its trunk', async () => {
  const credentials = { username: 'acme', password: 'secret', realm: null };
  const one = route('t', ['a'], { credentials, codecs: ['PCMA'] });
  failover.configure([one]);
  const hunt = new TrunkHunt([one], { clock, failover, resolve, maxTargets: 3 });
  expect(await hunt.next()).toEqual({
    route: { trunkId: 't', credentials, headers: [], codecs: ['PCMA'], transcode: false },
    endpoint: endpoint('a'),
    target: target('a'),
  });
});

test('an attempt ends only once', async () => {
  const one = route('t', ['a']);
  failover.configure([one]);
  const hunt = new TrunkHunt([one], { clock, failover, resolve, maxTargets: 3 });
  expect(() => hunt.ended(refused)).toThrow('an attempt ended that was not started');
});

test('tries no more addresses of an endpoint than the limit, of which known dead ones are none', async () => {
  addresses = { a: ['a1', 'a2', 'a3', 'a4', 'a5'] };
  const dead = { a1: refused, a2: refused, a3: refused, a4: final(200), a5: final(200) };
  const first = await run([route('t', ['a'])], dead);
  expect(first.tried).toEqual(['a1', 'a2', 'a3']);
  const second = await run([route('t', ['a'])], dead);
  expect(second.tried).toEqual(['a4']);
});
