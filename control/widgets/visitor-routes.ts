/** Requests of a visitor's page: the script, a session, events, and CORS preflights (contract 7.3). */

import { Type } from 'typebox';
import { SessionAnswer, SessionCreate, ThreadPath, WidgetPath, widgetAnswer } from '#shared/api/widgets.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { hostKey } from '#shared/networks.ts';
import { type App, sendEvents } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { agentErrors } from './agent-check.ts';
import type { WidgetDeps } from './deps.ts';
import { type EmbedScript, embedScript } from './embed-script.ts';
import { isAllowedOrigin, requireIds } from './rules.ts';
import { createSession } from './sessions-store.ts';
import type { WidgetParts } from './start.ts';
import { findOpenThread, findThread, findWidget } from './store.ts';
import { configOf } from './views.ts';
import { requireOwnThread, requireWidget } from './visitors.ts';

/** The file of the phone with which visitors call. */
export interface PhoneFile {
  /** Its path, which has the hash of its content; null: set-up has not built it. */
  phonePath(): Promise<string | null>;
}

export function visitorRoutes(app: App, services: WidgetDeps, parts: WidgetParts, phone: PhoneFile): void {
  app.decorateRequest('visitor', null);
  scriptRoute(app, services, phone);
  sessionRoute(app, services, parts);
  eventRoute(app, services, parts);
  preflightRoutes(app, parts);
}

function scriptRoute(app: App, { database: { db } }: WidgetDeps, phone: PhoneFile): void {
  const plain = embedScript(null);
  let withPhone: { readonly path: string; readonly script: EmbedScript } | null = null;
  const withPhoneAt = (path: string) => {
    if (withPhone?.path !== path) withPhone = { path, script: embedScript(path) };
    return withPhone.script;
  };
  app.route({
    method: 'GET',
    url: '/widget/:id/embed.js',
    config: { access: 'public', errors: ['INVALID_PARAMETER', 'WIDGET_NOT_FOUND'] },
    schema: {
      summary: 'The script of the embeddable chat',
      params: WidgetPath,
      produces: ['text/javascript'],
    },
    handler: async (request, reply) => {
      requireIds(request.params);
      const widget = await findWidget(db, null, request.params.id);
      if (!widget || configOf(widget).allowedOrigins.length === 0) throw ApiError.of('WIDGET_NOT_FOUND');
      const path = configOf(widget).voice ? await phone.phonePath() : null;
      const script = path === null ? plain : withPhoneAt(path);
      reply.headers({
        'cache-control': 'public, max-age=300',
        etag: script.etag,
        // Isolated pages load it only with this header (HTML standard, COEP).
        'cross-origin-resource-policy': 'cross-origin',
      });
      const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim());
      if (known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === script.etag)) {
        return reply.code(304).send();
      }
      return reply.type('text/javascript; charset=utf-8').send(script.text);
    },
  });
}

function sessionRoute(app: App, { clock, database: { db } }: WidgetDeps, { threads, visitors }: WidgetParts) {
  app.route({
    method: 'POST',
    url: '/v1/widget/:id/session',
    config: {
      access: 'public',
      errors: ['ORIGIN_NOT_ALLOWED', 'WIDGET_NOT_FOUND', ...agentErrors, 'RATE_LIMITED', 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Create a visitor session for one thread; called by pages, authorized by origin',
      params: WidgetPath,
      body: SessionCreate,
      response: { 200: SessionAnswer },
    },
    onRequest: async (request, reply) => {
      const widget = await visitors.allowOrigin(request, reply);
      await visitors.limitSessions(request, reply);
      if (widget && !isAllowedOrigin(configOf(widget), request.headers.origin)) {
        throw ApiError.of('ORIGIN_NOT_ALLOWED');
      }
    },
    handler: async (request) => {
      requireIds(request.params);
      const widget = await findWidget(db, null, request.params.id);
      if (!widget) throw ApiError.of('WIDGET_NOT_FOUND');
      const { visitor_id = newId() } = request.body;
      const thread =
        (await findOpenThread(db, widget.id, visitor_id, isoTime(clock))) ??
        (await threads.create(
          widget,
          { visitorId: visitor_id, clientHash: visitors.clientHash(widget.id, request.ip) },
          async (_, begun) => begun,
        ));
      const { token, expiresAt } = await createSession(
        db,
        { widgetId: widget.id, threadId: thread.id },
        clock.now(),
      );
      return widgetAnswer({ token, visitor_id, thread_id: thread.id, expires_at: expiresAt });
    },
  });
}

function eventRoute(app: App, { database: { db } }: WidgetDeps, { streams, visitors }: WidgetParts): void {
  app.route({
    method: 'GET',
    url: '/v1/widget/:id/threads/:thread_id/events',
    // A stream has no length for HEAD, and Fastify would leave it open.
    exposeHeadRoute: false,
    config: {
      access: 'read',
      admits: visitors.admits,
      errors: ['INVALID_PARAMETER', 'WIDGET_NOT_FOUND', 'THREAD_NOT_FOUND'],
    },
    schema: {
      summary: 'A thread as server-sent events: message, delta, handoff, ended',
      produces: ['text/event-stream'],
      params: ThreadPath,
      headers: Type.Object({
        'last-event-id': Type.Optional(Type.String({ description: 'What came after this event is sent' })),
      }),
    },
    handler: async (request, reply) => {
      const { params, visitor } = request;
      requireIds(params);
      const widget = await requireWidget(db, request, params.id);
      requireOwnThread(request, params.thread_id);
      const thread = await findThread(db, widget.id, params.thread_id);
      if (!thread) throw ApiError.of('THREAD_NOT_FOUND');
      const stream = await streams.open({
        widgetId: widget.id,
        threadId: thread.id,
        address: visitor ? hostKey(request.ip) : null,
        after: lastNumber(request.headers['last-event-id']),
        until: visitor ? Date.parse(visitor.expires_at) : null,
        allowed: request.stillAllowed,
      });
      return sendEvents(reply, stream);
    },
  });
}

/** An invalid number means that the reader has nothing. */
function lastNumber(header: string | string[] | undefined): number {
  return typeof header === 'string' && /^[0-9]{1,9}$/.test(header) ? Number(header) : 0;
}

/** Browsers send preflights, because requests carry a token and JSON (Fetch standard, CORS-preflight). */
function preflightRoutes(app: App, { visitors }: WidgetParts): void {
  const paths = {
    '/v1/widget/:id/session': 'POST',
    '/v1/widget/:id/threads': 'GET',
    '/v1/widget/:id/threads/:thread_id/messages': 'POST',
    '/v1/widget/:id/threads/:thread_id/end': 'POST',
    '/v1/widget/:id/threads/:thread_id/call': 'POST',
    '/v1/widget/:id/threads/:thread_id/events': 'GET',
  };
  for (const [url, method] of Object.entries(paths)) {
    app.route({
      method: 'OPTIONS',
      url,
      config: { access: 'public' },
      schema: { hide: true },
      handler: async (request, reply) => {
        await visitors.allowOrigin(request, reply);
        if (reply.hasHeader('access-control-allow-origin')) {
          reply.headers({
            'access-control-allow-methods': method,
            'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
            'access-control-max-age': '600',
          });
        }
        return reply.code(204).send();
      },
    });
  }
}
