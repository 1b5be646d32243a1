/** The base of the HTTP API: request validation, response limits, errors, pagination, rate limits, idempotency. */
export { type Access, type App, type Caller, orgOf } from './app-types.ts';
export { createBase } from './base.ts';
export { answerOver, untilGone } from './client-gone.ts';
export { exposedHeaders } from './cors.ts';
export { addDurableAnswers } from './durable-answers.ts';
export { errorBody, type Group, groupOf } from './groups.ts';
export { addIdempotency, keepAnswer, workOf } from './idempotency.ts';
export { pruneAnswers } from './idempotency-store.ts';
export { countRows, type NewestPage, newestPage } from './newest-page.ts';
export { News } from './news.ts';
export {
  OpenStreams,
  type Place,
  retryMs,
  type StreamEnd,
  sendEvents,
  serverSentEvent,
} from './open-streams.ts';
export { pageHeaders } from './page-headers.ts';
export {
  cursorAt,
  fitOne,
  fitPage,
  type Listed,
  nextAfter,
  type Omittable,
  readCursor,
  readPage,
  totalHeader,
} from './pages.ts';
export { readSpan, type TimeSpan } from './query.ts';
export { type Limit, RateLimiter, type WindowState } from './rate-limit.ts';
export { refuseUpgrade } from './refused-upgrade.ts';
export { secretMask } from './secret-mask.ts';
export { traceRequests } from './traced-requests.ts';
export { trackRequests } from './under-way.ts';
export { WrongKeys } from './wrong-keys.ts';
