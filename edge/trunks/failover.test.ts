import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { endpoint, route, target } from '../../test/kit/edge/trunks.ts';
import type { AttemptOutcome } from '../call/ports/routes.ts';
import { Failover, type Move } from './failover.ts';
import { type FailoverStore, openFailoverStore } from './failover-store.ts';

const minute = 60_000;
const refused: AttemptOutcome = { kind: 'no_connection', failure: connectionFailure('refused', 'refused') };
const silent: AttemptOutcome = { kind: 'no_response' };
const answer: AttemptOutcome = { kind: 'final', status: 200, phase: 'ringing', credentialsSent: false };
const forbidden: AttemptOutcome = { kind: 'final', status: 403, phase: 'silent', credentialsSent: true };

let clock: FakeClock;
let store: FailoverStore;
let moves: Move[];
let failover: Failover;

function start(failoverAfter = 1): Failover {
  return new Failover({
    clock,
    store,
    moved: (move) => moves.push(move),
    failbackAfter: 3,
    failoverAfter,
    forgetAfterMs: 10 * minute,
  });
}

beforeEach(() => {
  clock = new FakeClock();
  store = openFailoverStore(':memory:');
  moves = [];
  failover = start();
});

afterEach(() => failover.close());

/** Configures this trunk only. */
function trunk(hosts: readonly string[], other: Partial<OutboundTrunk> = {}): OutboundTrunk {
  const one = route('t', hosts, other);
  failover.configure([one]);
  return one;
}

function order(...routes: OutboundTrunk[]): string[] {
  return failover.plan(routes).steps.map(({ endpoint: { host } }) => host);
}

describe('the plan of a call', () => {
  it('goes through the records by priority, and in each record from the primary to the last endpoint', () => {
    const first = route('first', ['a', 'b', 'c'], { priority: 1 });
    const second = route('second', ['d', 'e'], { priority: 7 });
    failover.configure([second, first]);
    expect(order(second, first)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('leaves out unreachable endpoints, and reports them', () => {
    const one = trunk(['a', 'b']);
    failover.probed(endpoint('a'), false);
    const plan = failover.plan([one]);
    expect(plan.steps.map((step) => step.endpoint.host)).toEqual(['b']);
    expect(plan.skipped.map((step) => step.endpoint.host)).toEqual(['a']);
  });

  it('tries all endpoints when all are unreachable', () => {
    const one = trunk(['a', 'b']);
    failover.probed(endpoint('a'), false);
    failover.probed(endpoint('b'), false);
    expect(failover.plan([one])).toMatchObject({ skipped: [] });
    expect(order(one)).toHaveLength(2);
  });

  it('retries an endpoint when its last status is old', () => {
    const one = trunk(['a']);
    failover.ended(one, endpoint('a'), refused);
    clock.advance(10 * minute);
    expect(failover.health(endpoint('a')).status).toBe('unchecked');
  });

  it('identifies an endpoint by host and port, whichever trunk observed it', () => {
    const one = route('one', ['shared', 'x']);
    const other = route('other', ['shared', 'y']);
    failover.configure([one, other]);
    failover.probed(endpoint('y', 1), true);
    failover.ended(one, endpoint('shared'), silent);
    expect(order(other)).toEqual(['y']);
    expect(failover.activePriority('other')).toBe(1);
  });
});

describe('the active endpoint', () => {
  it.each<[string, AttemptOutcome]>([
    ['unreachable', refused],
    ['timeout', silent],
    ['auth_failure', forbidden],
  ])('is replaced when a call fails over for %s', (cause, outcome) => {
    const one = trunk(['a', 'b']);
    failover.ended(one, endpoint('a'), outcome);
    expect(failover.activePriority('t')).toBe(1);
    expect(moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause }]);
    expect(order(one)[0]).toBe('b');
  });

  it('stays when the record does not have the trigger', () => {
    const one = trunk(['a', 'b'], { triggers: ['unreachable'] });
    failover.ended(one, endpoint('a'), forbidden);
    expect(failover.activePriority('t')).toBe(0);
    expect(moves).toEqual([]);
  });

  it('is replaced when a probe fails, by a healthy endpoint rather than an unchecked one', () => {
    trunk(['a', 'b', 'c']);
    failover.probed(endpoint('c', 2), true);
    failover.probed(endpoint('a'), false);
    expect(failover.activePriority('t')).toBe(2);
    expect(moves).toEqual([{ trunkId: 't', from: 0, to: 2, cause: 'probe' }]);
  });

  it('stays while there is no better one, and is replaced when one recovers', () => {
    trunk(['a', 'b']);
    failover.probed(endpoint('b', 1), false);
    failover.probed(endpoint('a'), false);
    expect(failover.activePriority('t')).toBe(0);
    failover.probed(endpoint('b', 1), true);
    expect(failover.activePriority('t')).toBe(1);
  });

  it('is replaced once when two calls fail at the same endpoint', () => {
    const one = trunk(['a', 'b', 'c']);
    failover.ended(one, endpoint('a'), refused);
    failover.ended(one, endpoint('a'), refused);
    expect(failover.activePriority('t')).toBe(1);
    expect(moves).toHaveLength(1);
    expect(failover.health(endpoint('a'))).toEqual({ status: 'unreachable', failures: 2 });
  });

  it('returns to the primary from a dead failover endpoint, even before the required successful probes', () => {
    const one = trunk(['a', 'b'], { failback: 'manual' });
    failover.ended(one, endpoint('a'), refused);
    failover.probed(endpoint('a'), true);
    expect(failover.activePriority('t')).toBe(1);
    failover.ended(one, endpoint('b', 1), refused);
    expect(failover.activePriority('t')).toBe(0);
  });

  it('is the first one when the configuration no longer has the active one', () => {
    const one = trunk(['a', 'b']);
    failover.ended(one, endpoint('a'), refused);
    const shorter = trunk(['a']);
    expect(failover.activePriority('t')).toBe(0);
    expect(order(shorter)).toEqual(['a']);
  });
});

describe('failback', () => {
  const good = () => failover.probed(endpoint('a'), true);
  const bad = () => failover.probed(endpoint('a'), false);

  it('auto: returns after three successful probes in a row, counted from the failover', () => {
    const one = trunk(['a', 'b']);
    for (let count = 0; count < 5; count++) good();
    failover.ended(one, endpoint('a'), forbidden);
    good();
    good();
    bad();
    good();
    good();
    expect(failover.activePriority('t')).toBe(1);
    good();
    expect(failover.activePriority('t')).toBe(0);
    expect(moves.at(-1)).toEqual({ trunkId: 't', from: 1, to: 0, cause: 'failback' });
  });

  it('manual: stays until failback is requested', () => {
    const one = trunk(['a', 'b'], { failback: 'manual' });
    failover.ended(one, endpoint('a'), refused);
    for (let count = 0; count < 10; count++) good();
    expect(failover.activePriority('t')).toBe(1);
    failover.failBack('t');
    expect(failover.activePriority('t')).toBe(0);
    expect(moves.at(-1)).toEqual({ trunkId: 't', from: 1, to: 0, cause: 'failback_now' });
  });

  it('failback_now lets the next call try the primary even if it is known to be dead', () => {
    const one = trunk(['a', 'b']);
    failover.ended(one, endpoint('a'), refused);
    failover.failBack('t');
    expect(order(one)).toEqual(['a', 'b']);
  });

  it('does nothing for an unknown trunk', () => {
    failover.failBack('nobody');
    expect(moves).toEqual([]);
  });
});

describe('a trunk that fails over after two failed probes in a row', () => {
  beforeEach(() => {
    failover.close();
    store = openFailoverStore(':memory:');
    failover = start(2);
  });

  it('stays after the first one while calls skip the endpoint, and uses it again after a successful probe', () => {
    const one = trunk(['a', 'b']);
    failover.probed(endpoint('b', 1), true);
    failover.probed(endpoint('a'), false);
    expect(failover.health(endpoint('a'))).toEqual({ status: 'unreachable', failures: 1 });
    expect([failover.activePriority('t'), order(one)]).toEqual([0, ['b']]);
    failover.probed(endpoint('b', 1), true);
    failover.ended(one, endpoint('b', 1), answer);
    expect(failover.activePriority('t')).toBe(0);
    failover.probed(endpoint('a'), true);
    expect([failover.activePriority('t'), order(one)]).toEqual([0, ['a', 'b']]);
    expect(moves).toEqual([]);
  });

  it('stays while successful and failed probes alternate, and fails over at two failures in a row', () => {
    trunk(['a', 'b']);
    for (const good of [false, true, false, true, false]) failover.probed(endpoint('a'), good);
    expect(failover.activePriority('t')).toBe(0);
    failover.probed(endpoint('a'), false);
    expect(moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'probe' }]);
  });

  it('fails over at once when a call fails, also after a failed probe', () => {
    const one = trunk(['a', 'b']);
    failover.ended(one, endpoint('a'), refused);
    expect(moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'unreachable' }]);
  });

  it('fails over when a better endpoint recovers while the active one is dead', () => {
    trunk(['a', 'b']);
    failover.probed(endpoint('b', 1), false);
    failover.probed(endpoint('a'), false);
    failover.probed(endpoint('a'), false);
    expect(moves).toEqual([]);
    failover.probed(endpoint('b', 1), true);
    expect(moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'probe' }]);
  });
});

describe('an answer, or a rejection by the far end', () => {
  it('shows that the endpoint is reachable', () => {
    const one = trunk(['a', 'b']);
    failover.probed(endpoint('b', 1), false);
    failover.ended(one, endpoint('b', 1), answer);
    expect(failover.health(endpoint('b'))).toEqual({ status: 'healthy', failures: 0 });
    expect(moves).toEqual([]);
  });
});

describe('one endpoint in two spellings', () => {
  it.each([
    ['pbx.example.com', 'PBX.Example.COM'],
    ['pbx.example.com', 'pbx.example.com.'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1'],
    ['2001:db8::1', '[2001:db8:0::1]'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
  ])('is the same: %s and %s', (one, other) => {
    const first = route('first', [one, 'b']);
    const second = route('second', [other, 'c']);
    failover.configure([first, second]);
    failover.probed(endpoint(one), false);
    expect(order(first)).toEqual(['b']);
    expect(order(second)).toEqual(['c']);
    failover.targetSeen({ host: one, address: one, port: 5061, serverName: one }, false);
    const elsewhere = { host: 'b', address: 'b', port: 5061, serverName: 'b' };
    expect(
      failover.worthTrying([{ host: other, address: other, port: 5061, serverName: other }, elsewhere]),
    ).toEqual([elsewhere]);
  });

  it('is recognized after a restart in another spelling, also from a store of an earlier version', () => {
    store.saveEndpoint({ key: '[2001:DB8:0::1]:5061', reachable: false, at: clock.now() });
    store.saveEndpoint({ key: 'PBX.example.com:5061', reachable: false, at: clock.now() });
    failover = start();
    const one = trunk(['2001:db8::1', 'pbx.example.com.', 'c']);
    expect(order(one)).toEqual(['c']);
    expect(store.load().endpoints.map(({ key }) => key)).toEqual([
      '[2001:db8::1]:5061',
      'pbx.example.com:5061',
    ]);
  });

  it('with another port is another endpoint', () => {
    const one = trunk(['a', 'b']);
    failover.probed({ host: 'A', port: 5062 }, false);
    expect(order(one)).toEqual(['a', 'b']);
  });
});

describe('after a restart', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'failover-'));
    store = openFailoverStore(join(folder, 'failover.db'));
    failover = start();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function restart(): void {
    failover.close();
    store = openFailoverStore(join(folder, 'failover.db'));
    failover = start();
  }

  it('the active endpoint and the dead ones are restored', () => {
    const one = trunk(['a', 'b'], { failback: 'manual' });
    failover.ended(one, endpoint('a'), refused);
    restart();
    failover.configure([one]);
    expect(failover.activePriority('t')).toBe(1);
    expect(order(one)).toEqual(['b']);
    clock.advance(10 * minute);
    expect(order(one)).toEqual(['b', 'a']);
  });

  it('a failback is restored too', () => {
    const one = trunk(['a', 'b']);
    failover.ended(one, endpoint('a'), refused);
    failover.failBack('t');
    restart();
    failover.configure([one]);
    expect(order(one)).toEqual(['a', 'b']);
  });

  it('trunks and endpoints no longer configured are deleted', () => {
    const one = trunk(['a', 'b']);
    failover.ended(one, endpoint('a'), refused);
    failover.configure([]);
    expect(store.load()).toEqual({ trunks: [], endpoints: [] });
    failover.configure([one]);
    expect(order(one)).toEqual(['a', 'b']);
  });

  it('an attempt that ends after its trunk was removed leaves nothing behind', () => {
    const one = trunk(['a', 'b']);
    failover.configure([]);
    failover.ended(one, endpoint('a'), refused);
    expect(store.load()).toEqual({ trunks: [], endpoints: [] });
    expect(moves).toEqual([]);
  });
});

it('outcomes reported after close are ignored without an error', () => {
  const one = trunk(['a', 'b']);
  failover.close();
  failover.ended(one, endpoint('a'), refused);
  expect(moves).toEqual([]);
});

describe('addresses behind one endpoint', () => {
  const one = target('192.0.2.1');
  const two = target('192.0.2.2');

  it('that did not answer are skipped for a while, unless all did not', () => {
    failover.targetSeen(one, false);
    expect(failover.worthTrying([one, two])).toEqual([two]);
    failover.targetSeen(two, false);
    expect(failover.worthTrying([one, two])).toEqual([one, two]);
    failover.targetSeen(one, true);
    expect(failover.worthTrying([one, two])).toEqual([one]);
    clock.advance(10 * minute);
    expect(failover.worthTrying([one, two])).toEqual([one, two]);
  });
});

describe('an endpoint used by trunks of several organizations', () => {
  const mine = route('mine', ['shared', 'backup']);
  const also = route('also', ['shared', 'backup']);
  const theirs = route('theirs', ['shared']);
  const owners = new Map([
    ['mine', 'one'],
    ['also', 'one'],
    ['theirs', 'two'],
  ]);
  const shared = endpoint('shared');

  beforeEach(() => failover.configure([mine, also, theirs], owners));

  it.each([refused, silent])(
    'stays in use for one organization when a call of another ends with %o',
    (outcome) => {
      failover.probed(shared, true);
      failover.ended(theirs, shared, outcome);
      expect(moves).toEqual([]);
      expect(order(mine)).toEqual(['shared', 'backup']);
      expect(failover.health(shared)).toEqual({ status: 'healthy', failures: 0 });
    },
  );

  it('is dropped by all trunks of the organization whose call failed, until a probe', () => {
    failover.probed(shared, true);
    failover.ended(mine, shared, refused);
    expect(moves.map(({ trunkId, to }) => [trunkId, to])).toEqual([
      ['mine', 1],
      ['also', 1],
    ]);
    expect(order(mine)).toEqual(['backup']);
    failover.probed(shared, true);
    expect(order(mine)).toEqual(['backup', 'shared']);
  });

  it('stays skipped for one organization when another returns to it or reaches it', () => {
    failover.probed(shared, false);
    failover.failBack('theirs');
    failover.ended(theirs, shared, answer);
    expect(order(mine)).toEqual(['backup']);
  });

  it('belongs to one organization again when the others no longer use it', () => {
    failover.ended(theirs, shared, refused);
    failover.configure([mine, also], owners);
    failover.ended(mine, shared, refused);
    expect(order(also)).toEqual(['backup']);
    expect(failover.health(shared).status).toBe('unreachable');
  });

  it('has addresses whose silence only counts for the organization of the call', () => {
    const [first, second] = [target('192.0.2.1'), target('192.0.2.2')];
    failover.targetSeen(first, false, theirs);
    expect(failover.worthTrying([first, second], mine)).toEqual([first, second]);
    expect(failover.worthTrying([first, second], theirs)).toEqual([second]);
    failover.targetSeen(first, true, theirs);
    expect(failover.worthTrying([first, second], theirs)).toEqual([first, second]);
  });
});
