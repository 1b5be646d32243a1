/**
 * Failover for test calls: independent of what other calls and probes observed, and without effect on them.
 *
 * - Tries the endpoints in configuration order, including dead ones: the user may want to test one that was just
 *   repaired.
 * - Its outcomes affect no endpoint and no trunk: it dials a number that a person entered, and a rejection of it says
 *   nothing about later calls. Probes notice changes on their own.
 */
import { closedCircuit, type TrunkRoute, tryOrder } from '../circuit.ts';
import type { CallPlan, Failover } from '../failover.ts';

export const withoutMemory: Pick<Failover, 'plan' | 'ended' | 'targetSeen' | 'worthTrying'> = {
  plan<R extends TrunkRoute>(routes: readonly R[]): CallPlan<R> {
    const steps = routes.flatMap((route) =>
      tryOrder(route, closedCircuit).map((endpoint) => ({ route, endpoint })),
    );
    return { steps, skipped: [] };
  },
  ended: () => {},
  targetSeen: () => {},
  worthTrying: (targets) => targets,
};
