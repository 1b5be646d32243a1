import { beforeEach, describe, expect, it } from 'vitest';
import { answer, failoverScene, minute, refused, silent } from '../../test/kit/edge/failover.ts';
import { endpoint, route } from '../../test/kit/edge/trunks.ts';
import type { AttemptOutcome } from '../call/ports/routes.ts';
import { failoverMemory } from './failover-store.ts';

const scene = failoverScene();
const { start, trunk, order } = scene;

const forbidden: AttemptOutcome = { kind: 'final', status: 403, phase: 'silent', credentialsSent: true };

describe('the plan of a call', () => {
  it('goes through the records by priority, and in each record from the primary to the last endpoint', () => {
    const first = route('first', ['a', 'b', 'c'], { priority: 1 });
    const second = route('second', ['d', 'e'], { priority: 7 });
    scene.failover.configure([second, first]);
    expect(order(second, first)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('leaves out unreachable endpoints, and reports them', () => {
    const one = trunk(['a', 'b']);
    scene.failover.probed(endpoint('a'), false);
    const plan = scene.failover.plan([one]);
    expect(plan.steps.map((step) => step.endpoint.host)).toEqual(['b']);
    expect(plan.skipped.map((step) => step.endpoint.host)).toEqual(['a']);
  });

  it('tries all endpoints when all are unreachable', () => {
    const one = trunk(['a', 'b']);
    scene.failover.probed(endpoint('a'), false);
    scene.failover.probed(endpoint('b'), false);
    expect(scene.failover.plan([one])).toMatchObject({ skipped: [] });
    expect(order(one)).toHaveLength(2);
  });

  it('retries an endpoint when its last status is old', () => {
    const one = trunk(['a']);
    scene.failover.ended(one, endpoint('a'), refused);
    scene.clock.advance(10 * minute);
    expect(scene.failover.health(endpoint('a')).status).toBe('unchecked');
  });

  it('identifies an endpoint by host and port, whichever trunk observed it', () => {
    const one = route('one', ['shared', 'x']);
    const other = route('other', ['shared', 'y']);
    scene.failover.configure([one, other]);
    scene.failover.probed(endpoint('y', 1), true);
    scene.failover.ended(one, endpoint('shared'), silent);
    expect(order(other)).toEqual(['y']);
    expect(scene.failover.activePriority('other')).toBe(1);
  });
});

describe('the active endpoint', () => {
  it.each<[string, AttemptOutcome]>([
    ['unreachable', refused],
    ['timeout', silent],
    ['auth_failure', forbidden],
  ])('is replaced when a call fails over for %s', (cause, outcome) => {
    const one = trunk(['a', 'b']);
    scene.failover.ended(one, endpoint('a'), outcome);
    expect(scene.failover.activePriority('t')).toBe(1);
    expect(scene.moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause }]);
    expect(order(one)[0]).toBe('b');
  });

  it('stays when the record does not have the trigger', () => {
    const one = trunk(['a', 'b'], { triggers: ['unreachable'] });
    scene.failover.ended(one, endpoint('a'), forbidden);
    expect(scene.failover.activePriority('t')).toBe(0);
    expect(scene.moves).toEqual([]);
  });

  it('is replaced when a probe fails, by a healthy endpoint rather than an unchecked one', () => {
    trunk(['a', 'b', 'c']);
    scene.failover.probed(endpoint('c', 2), true);
    scene.failover.probed(endpoint('a'), false);
    expect(scene.failover.activePriority('t')).toBe(2);
    expect(scene.moves).toEqual([{ trunkId: 't', from: 0, to: 2, cause: 'probe' }]);
  });

  it('stays while there is no better one, and is replaced when one recovers', () => {
    trunk(['a', 'b']);
    scene.failover.probed(endpoint('b', 1), false);
    scene.failover.probed(endpoint('a'), false);
    expect(scene.failover.activePriority('t')).toBe(0);
    scene.failover.probed(endpoint('b', 1), true);
    expect(scene.failover.activePriority('t')).toBe(1);
  });

  it('is replaced once when two calls fail at the same endpoint', () => {
    const one = trunk(['a', 'b', 'c']);
    scene.failover.ended(one, endpoint('a'), refused);
    scene.failover.ended(one, endpoint('a'), refused);
    expect(scene.failover.activePriority('t')).toBe(1);
    expect(scene.moves).toHaveLength(1);
    expect(scene.failover.health(endpoint('a'))).toEqual({ status: 'unreachable', failures: 2 });
  });

  it('returns to the primary from a dead failover endpoint, even before the required successful probes', () => {
    const one = trunk(['a', 'b'], { failback: 'manual' });
    scene.failover.ended(one, endpoint('a'), refused);
    scene.failover.probed(endpoint('a'), true);
    expect(scene.failover.activePriority('t')).toBe(1);
    scene.failover.ended(one, endpoint('b', 1), refused);
    expect(scene.failover.activePriority('t')).toBe(0);
  });

  it('is the first one when the configuration no longer has the active one', () => {
    const one = trunk(['a', 'b']);
    scene.failover.ended(one, endpoint('a'), refused);
    const shorter = trunk(['a']);
    expect(scene.failover.activePriority('t')).toBe(0);
    expect(order(shorter)).toEqual(['a']);
  });
});

describe('failback', () => {
  const good = () => scene.failover.probed(endpoint('a'), true);
  const bad = () => scene.failover.probed(endpoint('a'), false);

  it('auto: returns after three successful probes in a row, counted from the failover', () => {
    const one = trunk(['a', 'b']);
    for (let count = 0; count < 5; count++) good();
    scene.failover.ended(one, endpoint('a'), forbidden);
    good();
    good();
    bad();
    good();
    good();
    expect(scene.failover.activePriority('t')).toBe(1);
    good();
    expect(scene.failover.activePriority('t')).toBe(0);
    expect(scene.moves.at(-1)).toEqual({ trunkId: 't', from: 1, to: 0, cause: 'failback' });
  });

  it('manual: stays until failback is requested', () => {
    const one = trunk(['a', 'b'], { failback: 'manual' });
    scene.failover.ended(one, endpoint('a'), refused);
    for (let count = 0; count < 10; count++) good();
    expect(scene.failover.activePriority('t')).toBe(1);
    scene.failover.failBack('t');
    expect(scene.failover.activePriority('t')).toBe(0);
    expect(scene.moves.at(-1)).toEqual({ trunkId: 't', from: 1, to: 0, cause: 'failback_now' });
  });

  it('failback_now lets the next call try the primary even if it is known to be dead', () => {
    const one = trunk(['a', 'b']);
    scene.failover.ended(one, endpoint('a'), refused);
    scene.failover.failBack('t');
    expect(order(one)).toEqual(['a', 'b']);
  });

  it('does nothing for an unknown trunk', () => {
    scene.failover.failBack('nobody');
    expect(scene.moves).toEqual([]);
  });
});

describe('a trunk that fails over after two failed probes in a row', () => {
  beforeEach(() => {
    scene.failover.close();
    scene.store = failoverMemory();
    scene.failover = start(2);
  });

  it('stays after the first one while calls skip the endpoint, and uses it again after a successful probe', () => {
    const one = trunk(['a', 'b']);
    scene.failover.probed(endpoint('b', 1), true);
    scene.failover.probed(endpoint('a'), false);
    expect(scene.failover.health(endpoint('a'))).toEqual({ status: 'unreachable', failures: 1 });
    expect([scene.failover.activePriority('t'), order(one)]).toEqual([0, ['b']]);
    scene.failover.probed(endpoint('b', 1), true);
    scene.failover.ended(one, endpoint('b', 1), answer);
    expect(scene.failover.activePriority('t')).toBe(0);
    scene.failover.probed(endpoint('a'), true);
    expect([scene.failover.activePriority('t'), order(one)]).toEqual([0, ['a', 'b']]);
    expect(scene.moves).toEqual([]);
  });

  it('stays while successful and failed probes alternate, and fails over at two failures in a row', () => {
    trunk(['a', 'b']);
    for (const good of [false, true, false, true, false]) scene.failover.probed(endpoint('a'), good);
    expect(scene.failover.activePriority('t')).toBe(0);
    scene.failover.probed(endpoint('a'), false);
    expect(scene.moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'probe' }]);
  });

  it('fails over at once when a call fails, also after a failed probe', () => {
    const one = trunk(['a', 'b']);
    scene.failover.ended(one, endpoint('a'), refused);
    expect(scene.moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'unreachable' }]);
  });

  it('fails over when a better endpoint recovers while the active one is dead', () => {
    trunk(['a', 'b']);
    scene.failover.probed(endpoint('b', 1), false);
    scene.failover.probed(endpoint('a'), false);
    scene.failover.probed(endpoint('a'), false);
    expect(scene.moves).toEqual([]);
    scene.failover.probed(endpoint('b', 1), true);
    expect(scene.moves).toEqual([{ trunkId: 't', from: 0, to: 1, cause: 'probe' }]);
  });
});

describe('an answer, or a rejection by the far end', () => {
  it('shows that the endpoint is reachable', () => {
    const one = trunk(['a', 'b']);
    scene.failover.probed(endpoint('b', 1), false);
    scene.failover.ended(one, endpoint('b', 1), answer);
    expect(scene.failover.health(endpoint('b'))).toEqual({ status: 'healthy', failures: 0 });
    expect(scene.moves).toEqual([]);
  });
});

it('outcomes reported after close are ignored without an error', () => {
  const one = trunk(['a', 'b']);
  scene.failover.close();
  scene.failover.ended(one, endpoint('a'), refused);
  expect(scene.moves).toEqual([]);
});
