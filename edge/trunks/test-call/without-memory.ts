/**
 * Failover as a test call sees it: what other calls and probes have found out does not guide it, and what it finds
 * out guides nobody else.
 *
 * - It tries the endpoints in the order of the configuration, those too that are known to be dead: whoever has
 *   just repaired one wants to hear of that one.
 * - Its outcomes count for no endpoint and move no trunk: it dials what a person typed in, and a refusal of that
 *   says nothing of the calls to come. Probes see by themselves what has changed.
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
