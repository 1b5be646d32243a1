/** Access to a widget's endpoints without an API key: by whom, from which pages, and how often (contract 7.3). */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { ApiError } from '#shared/errors.ts';
import { hostKey } from '#shared/networks.ts';
import type { Db, SecretBox, WidgetRow, WidgetSessionRow } from '../db/index.ts';
import { exposedHeaders, type Limit, orgOf, RateLimiter, type WrongKeys } from '../http/index.ts';
import { keyOfHeader, showWindow } from '../organizations/index.ts';
import type { SharedCounts } from '../replicas/index.ts';
import type { WidgetLimits } from './limits.ts';
import type { WidgetMetrics } from './metrics.ts';
import { isAllowedOrigin } from './rules.ts';
import { findSession, isToken } from './sessions-store.ts';
import { findWidget } from './store.ts';
import { configOf } from './views.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the visitor's token. */
    visitor: WidgetSessionRow | null;
  }
}

export interface VisitorParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly secrets: Pick<SecretBox, 'derive'>;
  readonly limits: Pick<
    WidgetLimits,
    | 'sessionsPerMinute'
    | 'requestsPerMinute'
    | 'messagesPerMinute'
    | 'callsPerMinute'
    | 'callsOfWidgetPerMinute'
    | 'mostCalls'
  >;
  readonly wrongKeys: WrongKeys;
  readonly sharedCounts: SharedCounts;
  readonly metrics: Pick<WidgetMetrics, 'refused'>;
}

export class Visitors {
  readonly #parts: VisitorParts;
  readonly #limiter: RateLimiter;

  constructor(parts: VisitorParts) {
    this.#parts = parts;
    this.#limiter = new RateLimiter(parts.clock, parts.sharedCounts.as('visitors'));
  }

  /**
   * Authenticates a request by a visitor's token. False when it has none: an API key is then required.
   * @throws ApiError AUTH_FAILURE, RATE_LIMITED
   */
  readonly admits = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const widget = await this.allowOrigin(request, reply);
    const token = keyOfHeader(request.headers.authorization);
    if (token === null || !isToken(token)) return false;
    const { clock, db, limits, wrongKeys } = this.#parts;
    const session = await findSession(db, token, new Date(clock.now()).toISOString());
    if (!session) throw await wrongKeys.refusal(request.ip, token);
    await this.#limit(hostKey(request.ip), limit('visitor_address', limits.requestsPerMinute), reply);
    request.visitor = session;
    if (widget?.id === session.widget_id) {
      request.keyScope = { orgId: widget.org_id, name: `visitor ${session.thread_id}` };
    }
    return true;
  };

  /**
   * Lets the page read the response when the widget allows its origin (Fetch standard, CORS protocol). Visitors
   * have tokens and no cookies, so credentials are never allowed. Returns the widget, of any organization.
   */
  async allowOrigin(request: FastifyRequest, reply: FastifyReply): Promise<WidgetRow | undefined> {
    reply.header('vary', 'Origin');
    const { id } = request.params as { id: string };
    const widget = await findWidget(this.#parts.db, null, id);
    const { origin } = request.headers;
    if (widget && origin !== undefined && isAllowedOrigin(configOf(widget), origin)) {
      reply.headers({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposedHeaders,
      });
    }
    return widget;
  }

  /**
   * Keyed hash of the client that starts a thread: no address is stored, and hashes of two widgets cannot be compared.
   */
  clientHash(widgetId: string, address: string): string {
    const client = `widget_client:${widgetId}:${hostKey(address)}`;
    return this.#parts.secrets.derive(client).toString('base64url');
  }

  /** @throws ApiError RATE_LIMITED */
  limitSessions(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    return this.#limit(hostKey(request.ip), limit('address', this.#parts.limits.sessionsPerMinute), reply);
  }

  /** @throws ApiError RATE_LIMITED */
  limitMessages(threadId: string, reply: FastifyReply): Promise<void> {
    return this.#limit(threadId, limit('visitor_messages', this.#parts.limits.messagesPerMinute), reply);
  }

  /** @throws ApiError RATE_LIMITED */
  async limitCalls(request: FastifyRequest, reply: FastifyReply, widgetId: string): Promise<void> {
    const { callsOfWidgetPerMinute, callsPerMinute } = this.#parts.limits;
    await this.#limit(hostKey(request.ip), limit('voice_address', callsPerMinute), reply);
    await this.#limit(widgetId, limit('voice_widget', callsOfWidgetPerMinute), reply);
  }

  /** @param running calls of a widget @throws ApiError RATE_LIMITED */
  requireRoomForCall(running: number): void {
    const { limits, metrics } = this.#parts;
    const { mostCalls: most } = limits;
    if (running < most) return;
    const scope = 'widget_calls';
    metrics.refused(scope);
    const message = `A widget has at most ${counted(most, 'call')} at a time; wait until one ends.`;
    throw ApiError.of('RATE_LIMITED', { limit: most, window_seconds: 1, scope }, message).waiting(5);
  }

  async #limit(subject: string, wanted: Limit, reply: FastifyReply): Promise<void> {
    const state = await this.#limiter.take(subject, [wanted]);
    if (state.refused) this.#parts.metrics.refused(wanted.scope);
    showWindow(reply, state);
  }
}

function limit(scope: string, perMinute: number): Limit {
  return { scope, limit: perMinute, windowSeconds: 60 };
}

/** The widget of a path, if the caller may use it: by key or by token. @throws ApiError WIDGET_NOT_FOUND */
export async function requireWidget(db: Db, request: FastifyRequest, id: string): Promise<WidgetRow> {
  const { visitor } = request;
  if (visitor && visitor.widget_id !== id) throw ApiError.of('WIDGET_NOT_FOUND');
  const widget = await findWidget(db, visitor ? null : orgOf(request), id);
  if (!widget) throw ApiError.of('WIDGET_NOT_FOUND');
  return widget;
}

/** A token opens its own thread only. @throws ApiError THREAD_NOT_FOUND */
export function requireOwnThread(request: FastifyRequest, threadId: string): void {
  if (request.visitor && request.visitor.thread_id !== threadId) throw ApiError.of('THREAD_NOT_FOUND');
}
