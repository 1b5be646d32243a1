/** Webhook events and their delivery to customers. */
export { countFailure, dueAttempts, nextDueAt, pruneAttempts, updateAttempt } from './attempts-store.ts';
export { type DeliveryParts, startWebhookDeliveries } from './deliveries.ts';
export { webhookLimits } from './limits.ts';
export { webhookRoutes } from './routes.ts';
export {
  type AttemptResult,
  type DeliveryOutcome,
  type Event,
  eventBody,
  nextAttempt,
  verdictOf,
} from './rules.ts';
export { sendEvent } from './send.ts';
export { queueEvent, waitingDelivery, webhookSubject } from './store.ts';
