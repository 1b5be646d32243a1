/** Failover between the endpoints of trunks. */
import { afterEach, beforeEach } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { AttemptOutcome } from '../../../edge/call/ports/routes.ts';
import { Failover, type Move } from '../../../edge/trunks/failover.ts';
import { type FailoverStore, failoverMemory } from '../../../edge/trunks/failover-store.ts';
import { route } from './trunks.ts';

export const minute = 60_000;
export const refused: AttemptOutcome = {
  kind: 'no_connection',
  failure: connectionFailure('refused', 'refused'),
};
export const silent: AttemptOutcome = { kind: 'no_response' };
export const answer: AttemptOutcome = {
  kind: 'final',
  status: 200,
  phase: 'ringing',
  credentialsSent: false,
};

/** Failover without trunks for each test. */
export function failoverScene() {
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
    store = failoverMemory();
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

  return {
    get clock() {
      return clock;
    },
    get store() {
      return store;
    },
    set store(value) {
      store = value;
    },
    get moves() {
      return moves;
    },
    get failover() {
      return failover;
    },
    set failover(value) {
      failover = value;
    },
    start,
    trunk,
    order,
  };
}
