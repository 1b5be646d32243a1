/** The client of the Trunkline API. */
export { Trunkline } from './client.ts';
export {
  ApiError,
  ConnectionError,
  type ErrorItem,
  TimeoutError,
  TrunklineError,
  WebhookError,
} from './errors.ts';
export type { EventFilter, FollowOptions, LoggedCall, StreamEvent, TranscriptLine } from './events.ts';
export type { Operations, WebhookEvents } from './generated.ts';
export type { List } from './pages.ts';
export type { ClientOptions, RequestOptions } from './transport.ts';
export type { Answer, Body, ListName, ListQuery, OperationName, Parts } from './types.ts';
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookEventType,
  type WebhookHeaders,
  type WebhookRequest,
} from './webhooks.ts';
