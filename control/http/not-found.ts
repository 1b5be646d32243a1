/** Paths and methods that do not exist: 404 and 405 (contract 1.3). */
import { ApiError } from '#shared/errors.ts';
import type { App } from './app-types.ts';
import { sendError } from './errors.ts';

interface KnownPath {
  readonly form: RegExp;
  readonly methods: Set<string>;
}

/** Call before adding routes: it records each of them. */
export function addNotFound(app: App): void {
  const known = new Map<string, KnownPath>();
  app.addHook('onRoute', (route) => {
    const path = known.get(route.url) ?? { form: formOf(route.url), methods: new Set() };
    known.set(route.url, path);
    for (const method of [route.method].flat()) path.methods.add(method);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set<string>();
    for (const { form, methods: of } of known.values())
      if (form.test(path)) for (const one of of) methods.add(one);
    if (methods.size === 0) return sendError(request, reply, ApiError.of('ROUTE_NOT_FOUND'), '');
    reply.header('allow', [...methods].sort().join(', '));
    return sendError(request, reply, ApiError.of('METHOD_NOT_ALLOWED'));
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
