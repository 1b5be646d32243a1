/** What Node says of the process: memory, CPU, descriptors, collections of garbage, delay of the event loop. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { lazy } from '#shared/lazy.ts';

/**
 * Of the process, not of one control plane in it: prom-client's observer of collections and its timer of delays, which
 * fires every 10 ms, run until the process ends, and hold all that can reach their registry.
 */
export const processMetrics = lazy(() => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'trunkline_control_' });
  return registry;
});
