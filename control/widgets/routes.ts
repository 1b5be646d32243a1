/** /v1/widget/{id}/threads: threads of widgets and their messages (contract 7.1 and 7.2). */
import { NoMembers } from '#shared/api/common.ts';
import {
  MessageAnswer,
  MessageCreate,
  ThreadAnswer,
  ThreadCreate,
  ThreadListAnswer,
  ThreadPath,
  ThreadQuery,
  WidgetPath,
  widgetAnswer,
} from '#shared/api/widgets.ts';
import { ApiError } from '#shared/errors.ts';
import type { Db } from '../db/index.ts';
import { type App, keepAnswer, orgOf, readPage } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { agentErrors } from './agent-check.ts';
import { callRoutes } from './call-routes.ts';
import type { WidgetDeps } from './deps.ts';
import { widgetManageRoutes } from './manage-routes.ts';
import { requireIds } from './rules.ts';
import type { WidgetParts } from './start.ts';
import { listThreads, messagesOf, newestMessages, type StoredThread } from './store.ts';
import { bareThreadView, messageView, threadView } from './views.ts';
import { requireOwnThread, requireWidget } from './visitors.ts';

const ofThread = ['WIDGET_NOT_FOUND', 'THREAD_NOT_FOUND'] as const;

export function widgetRoutes(app: App, services: WidgetDeps, parts: WidgetParts): void {
  widgetManageRoutes(app, services, parts);
  callRoutes(app, services, parts);
  const { threads, visitors } = parts;
  const { clock, database } = services;
  const { db } = database;
  const { admits } = visitors;
  const withMessages = async (thread: StoredThread, toVisitor: boolean, within: Db = db) =>
    threadView(thread, await messagesOf(within, thread.id), isoTime(clock), toVisitor);

  app.route({
    method: 'GET',
    url: '/v1/widget/:id/threads',
    config: { access: 'read', admits },
    schema: {
      summary: 'The threads of a widget, newest first',
      description:
        'Long threads show their newest messages and list messages in `omitted`; the event stream of a thread has all.',
      params: WidgetPath,
      querystring: ThreadQuery,
      response: { 200: ThreadListAnswer },
    },
    handler: async (request) => {
      const { params, query, visitor } = request;
      requireIds(params);
      const { limit = 20, page = 1, thread_id } = query;
      const all = { widgetId: params.id, threadId: thread_id };
      if (visitor && (thread_id ?? visitor.thread_id) !== visitor.thread_id) {
        return widgetAnswer({ threads: [], total: 0 });
      }
      const filter = visitor ? { ...all, threadId: visitor.thread_id } : { ...all, orgId: orgOf(request) };
      const found = await listThreads(db, filter, { offset: (page - 1) * limit, limit });
      const now = isoTime(clock);
      const listed = await readPage(found.threads, {}, async (thread, share) => {
        const { messages, isCut } = await newestMessages(db, thread.id, share / 2);
        return {
          item: threadView(thread, messages, now, visitor !== null),
          cut: isCut ? ['messages'] : [],
        };
      });
      return widgetAnswer({ threads: listed, total: found.total });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/widget/:id/threads',
    config: {
      access: 'member',
      atomic: true,
      errors: ['WIDGET_NOT_FOUND', ...agentErrors, 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Start a thread',
      params: WidgetPath,
      body: ThreadCreate,
      response: { 200: ThreadAnswer },
    },
    handler: async (request) => {
      requireIds(request.params);
      const widget = await requireWidget(db, request, request.params.id);
      const { visitor_id = null, request_data = {} } = request.body;
      const begun = { visitorId: visitor_id, variables: request_data };
      return threads.create(widget, begun, async (trx, thread) =>
        keepAnswer(trx, request, widgetAnswer({ thread: await withMessages(thread, false, trx) })),
      );
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/widget/:id/threads/:thread_id/messages',
    config: {
      access: 'member',
      admits,
      errors: [...ofThread, 'THREAD_ENDED', 'HANDOFF_REQUIRED', 'MODEL_UNAVAILABLE'],
    },
    schema: {
      summary: 'Post a message, and get the agent’s answers',
      params: ThreadPath,
      body: MessageCreate,
      response: { 200: MessageAnswer },
    },
    handler: async (request, reply) => {
      const { body, params, visitor } = request;
      requireIds(params);
      const { content, sender_type = 'USER' } = body;
      if (visitor && sender_type !== 'USER') {
        throw ApiError.invalid('/sender_type', 'a visitor writes as USER');
      }
      const widget = await requireWidget(db, request, params.id);
      requireOwnThread(request, params.thread_id);
      if (visitor) await visitors.limitMessages(params.thread_id, reply);
      const { messages, thread } = await threads.post(widget, params.thread_id, content, sender_type);
      return widgetAnswer({
        messages: messages.map((message) => messageView(message, visitor !== null)),
        thread: bareThreadView(thread, isoTime(clock)),
      });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/widget/:id/threads/:thread_id/handoff',
    config: { access: 'member', resumable: true, errors: [...ofThread, 'THREAD_ENDED'] },
    schema: {
      summary: 'Hand a thread to a live agent',
      params: ThreadPath,
      body: NoMembers,
      response: { 200: ThreadAnswer },
    },
    handler: async (request) => {
      requireIds(request.params);
      const widget = await requireWidget(db, request, request.params.id);
      return widgetAnswer({
        thread: await withMessages(await threads.handOff(widget, request.params.thread_id), false),
      });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/widget/:id/threads/:thread_id/end',
    config: { access: 'member', admits, resumable: true, errors: ofThread },
    schema: {
      summary: 'End a thread',
      params: ThreadPath,
      body: NoMembers,
      response: { 200: ThreadAnswer },
    },
    handler: async (request) => {
      const { params, visitor } = request;
      requireIds(params);
      const widget = await requireWidget(db, request, params.id);
      requireOwnThread(request, params.thread_id);
      const thread = await threads.end(widget, params.thread_id);
      return widgetAnswer({ thread: await withMessages(thread, visitor !== null) });
    },
  });
}
