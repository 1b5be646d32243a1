/** Paths and methods that do not exist: 404 and 405 (contract 1.3). */
import { ApiError } from '#shared/errors.ts';
import type { App } from './app-types.ts';
import { sendError } from './errors.ts';

/** Call before adding routes: it records each of them. */
export function addNotFound(app: App): void {
  const known = new Map<string, Set<string>>();
  // Made for the first such request, which many programs never get.
  let forms: readonly (readonly [RegExp, ReadonlySet<string>])[] | undefined;
  app.addHook('onRoute', (route) => {
    const methods = known.get(route.url) ?? new Set();
    known.set(route.url, methods);
    for (const method of [route.method].flat()) methods.add(method);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set<string>();
    forms ??= Array.from(known, ([url, of]) => [formOf(url), of] as const);
    for (const [form, of] of forms) if (form.test(path)) for (const one of of) methods.add(one);
    if (methods.size === 0) return sendError(request, reply, ApiError.of('ROUTE_NOT_FOUND'), '');
    const allowed = [...methods].sort().join(', ');
    reply.header('allow', allowed);
    const message = `${request.method} is not allowed for this path; it has ${allowed}.`;
    return sendError(request, reply, ApiError.of('METHOD_NOT_ALLOWED', undefined, message));
  });
}

/** `/v1/calls/:call_id` as a regular expression; a parameter is one path segment. */
function formOf(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? parameterForm(part) : literal(part)));
  return new RegExp(`^${parts.join('/')}$`);
}

function parameterForm(part: string): string {
  const dot = part.indexOf('.');
  return dot < 0 ? '[^/]+' : `[^/]+${literal(part.slice(dot))}`;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
