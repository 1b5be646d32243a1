/** Lets pages of the deployment's listed origins use the API (contract 14.2; Fetch standard, CORS protocol). */
import type { App } from './app-types.ts';
import { totalHeader } from './pages.ts';

const allowed = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id, x-request-id',
  'access-control-max-age': '600',
};
/**
 * Response headers exposed to pages, besides those always readable (Fetch standard, CORS-safelisted response-header
 * names).
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
 * Credentials are never allowed: the cookie of a session (contract 14.6) is for pages of our own origin. Widgets list
 * their own visitors' origins.
 * @param origins such as `https://console.example.com`; empty: no header is ever sent
 */
export function addCors(app: App, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const known = new Set(origins);
  app.addHook('onRequest', async (request, reply) => {
    if (!/^\/v[12]\//.test(request.url)) return;
    // Caches must separate responses by origin, including those without CORS headers.
    reply.header('vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !known.has(origin)) return;
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders });
    // Browsers send a preflight without the key, so it is answered before authentication.
    const isPreflight = request.method === 'OPTIONS' && 'access-control-request-method' in request.headers;
    if (isPreflight) return reply.headers(allowed).code(204).send();
  });
}
