/** Endpoints with several addresses, and endpoints of several organizations. */
import { beforeEach, describe, expect, it } from 'vitest';
import { answer, failoverScene, minute, refused, silent } from '../../test/kit/edge/failover.ts';
import { endpoint, route, target } from '../../test/kit/edge/trunks.ts';

const scene = failoverScene();
const { order } = scene;

describe('addresses behind one endpoint', () => {
  const one = target('192.0.2.1');
  const two = target('192.0.2.2');

  it('that did not answer are skipped for a while, unless all did not', () => {
    scene.failover.targetSeen(one, false);
    expect(scene.failover.worthTrying([one, two])).toEqual([two]);
    scene.failover.targetSeen(two, false);
    expect(scene.failover.worthTrying([one, two])).toEqual([one, two]);
    scene.failover.targetSeen(one, true);
    expect(scene.failover.worthTrying([one, two])).toEqual([one]);
    scene.clock.advance(10 * minute);
    expect(scene.failover.worthTrying([one, two])).toEqual([one, two]);
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

  beforeEach(() => scene.failover.configure([mine, also, theirs], owners));

  it.each([refused, silent])(
    'stays in use for one organization when a call of another ends with %o',
    (outcome) => {
      scene.failover.probed(shared, true);
      scene.failover.ended(theirs, shared, outcome);
      expect(scene.moves).toEqual([]);
      expect(order(mine)).toEqual(['shared', 'backup']);
      expect(scene.failover.health(shared)).toEqual({ status: 'healthy', failures: 0 });
    },
  );

  it('is dropped by all trunks of the organization whose call failed, until a probe', () => {
    scene.failover.probed(shared, true);
    scene.failover.ended(mine, shared, refused);
    expect(scene.moves.map(({ trunkId, to }) => [trunkId, to])).toEqual([
      ['mine', 1],
      ['also', 1],
    ]);
    expect(order(mine)).toEqual(['backup']);
    scene.failover.probed(shared, true);
    expect(order(mine)).toEqual(['backup', 'shared']);
  });

  it('stays skipped for one organization when another returns to it or reaches it', () => {
    scene.failover.probed(shared, false);
    scene.failover.failBack('theirs');
    scene.failover.ended(theirs, shared, answer);
    expect(order(mine)).toEqual(['backup']);
  });

  it('belongs to one organization again when the others no longer use it', () => {
    scene.failover.ended(theirs, shared, refused);
    scene.failover.configure([mine, also], owners);
    scene.failover.ended(mine, shared, refused);
    expect(order(also)).toEqual(['backup']);
    expect(scene.failover.health(shared).status).toBe('unreachable');
  });

  it('has addresses whose silence only counts for the organization of the call', () => {
    const [first, second] = [target('192.0.2.1'), target('192.0.2.2')];
    scene.failover.targetSeen(first, false, theirs);
    expect(scene.failover.worthTrying([first, second], mine)).toEqual([first, second]);
    expect(scene.failover.worthTrying([first, second], theirs)).toEqual([second]);
    scene.failover.targetSeen(first, true, theirs);
    expect(scene.failover.worthTrying([first, second], theirs)).toEqual([first, second]);
  });
});
