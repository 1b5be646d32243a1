/** Webhook events and their delivery to customers. */
export { type DeliveryParts, startWebhookDeliveries } from './deliveries.ts';
export { webhookLimits } from './limits.ts';
export {
  type AttemptResult,
  afterFailure,
  type DeliveryOutcome,
  type Event,
  eventBody,
  nextAttempt,
  verdictOf,
} from './rules.ts';
export { sendEvent } from './send.ts';
export { pruneDeliveries, queueEvent, waitingDelivery, webhookSubject } from './store.ts';
