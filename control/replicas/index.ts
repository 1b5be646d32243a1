/** Several control planes on one database: who lives, and what they tell each other. */
export { Bus, type MessageFacts, type Topic } from './bus.ts';
export { Interests } from './interests.ts';
export { replicaLimits } from './limits.ts';
export { measureBus } from './metrics.ts';
export { alone, type Hearing, type Join, SharedCounts, type Teller } from './shared-counts.ts';
export { SharedPlaces } from './shared-places.ts';
export { MessageTooLarge, type Transients, type TransientTopic } from './transients.ts';
