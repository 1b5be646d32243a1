/** Lets pages of the origins that the deployment lists use the API (contract 14.2; Fetch standard, CORS protocol). */
import type { App } from './app-types.ts';
import { totalHeader } from './pages.ts';

const allowed = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id, x-request-id',
  'access-control-max-age': '600',
};
/**
 * Headers of answers that pages may read, besides those that every page may (Fetch standard, CORS-safelisted
 * response-header names).
 */
export const exposedHeaders = [
  'allow',
  'content-disposition',
  'idempotent-replayed',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  totalHeader,
  'x-request-id',
].join(', ');

/**
 * There are no cookies, so credentials are never allowed. Widgets name the origins of their visitors themselves.
 * @param origins such as `https://console.example.com`; none: no header is ever sent
 */
export function addCors(app: App, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const known = new Set(origins);
  app.addHook('onRequest', async (request, reply) => {
    if (!/^\/v[12]\//.test(request.url)) return;
    // Caches keep the answers to different origins apart, those without a header too.
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !known.has(origin)) return;
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders });
    // Browsers ask first, without the key: a preflight is answered before anything is looked up.
    const isPreflight = request.method === 'OPTIONS' && 'access-control-request-method' in request.headers;
    if (isPreflight) return reply.headers(allowed).code(204).send();
  });
}
