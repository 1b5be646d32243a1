/** A span for each request to the API. Added to an app only when there is a collector. */
import { idsOfCall, type OpenSpan, readTraceparent, type Tracing } from '#shared/tracing/tracing.ts';
import type { App } from './app-types.ts';
import { probePaths } from './base.ts';

/** A route about one call, whose id is its parameter. */
const ofCall = /^\/v1\/(?:sip\/)?calls\/:/;

/** What `/health` and `/metrics` ask for again and again is left out. */
export function traceRequests(app: App, tracing: Tracing): void {
  const spans = new WeakMap<object, OpenSpan>();
  app.addHook('onRequest', (request, _reply, done) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    if (probePaths.has(route)) return done();
    const callId = ofCall.test(route) ? callIdIn(request.params) : null;
    // Whoever calls the API does not decide what is sampled and where our traces hang: their context is a link.
    const theirs = readTraceparent(String(request.headers.traceparent ?? ''));
    const span = tracing.begin(`${request.method} ${route}`, {
      kind: 'server',
      parent: null,
      links: [...(theirs ? [theirs] : []), ...(callId === null ? [] : [idsOfCall(callId)])],
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'trunkline.request_id': request.id,
        ...(callId !== null && { 'trunkline.call_id': callId }),
      },
    });
    spans.set(request, span);
    tracing.run(span.ids, done);
  });
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const error = statusCode >= 500 ? `status ${statusCode}` : null;
    spans.get(request)?.end({ 'http.response.status_code': statusCode }, error);
    done();
  });
}

/** Ids of calls are UUIDs; other text of a path is nobody's business. */
function callIdIn(params: unknown): string | null {
  const [first]: unknown[] = typeof params === 'object' && params !== null ? Object.values(params) : [];
  return typeof first === 'string' && /^[0-9a-f-]{36}$/i.test(first) ? first.toLowerCase() : null;
}
