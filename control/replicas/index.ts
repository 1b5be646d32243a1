/** Several control planes on one database: who lives, and what they tell each other. */
export { Bus, type MessageFacts, type Topic } from './bus.ts';
export { replicaLimits } from './limits.ts';
export { measureBus } from './metrics.ts';
