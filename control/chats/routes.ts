/** /v1/pathway/chat: tries a pathway in text (contract 11.3). */
import {
  ChatAnswered,
  ChatCreate,
  ChatCreated,
  ChatDeleted,
  ChatList,
  ChatMessage,
  ChatOne,
  ChatPath,
  ChatQuery,
} from '#shared/api/chats.ts';
import { plain } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import { type App, orgOf } from '../http/index.ts';
import { Chats, chatLine } from './chats.ts';
import type { ChatDeps } from './deps.ts';
import { deleteChat, listChats } from './store.ts';

export function chatRoutes(app: App, services: ChatDeps): void {
  const chats = new Chats(services);
  const { db } = services.database;

  app.route({
    method: 'POST',
    url: '/v1/pathway/chat/create',
    config: {
      access: 'member',
      errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND', 'MODEL_UNAVAILABLE', 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Start a chat with a pathway',
      body: ChatCreate,
      response: { 200: ChatCreated },
    },
    handler: async (request) => plain(await chats.create(orgOf(request), request.body)),
  });

  app.route({
    method: 'POST',
    url: '/v1/pathway/chat/:id',
    config: { access: 'member', errors: ['CHAT_NOT_FOUND', 'CHAT_COMPLETED', 'MODEL_UNAVAILABLE'] },
    schema: {
      summary: 'Send a message in a chat',
      params: ChatPath,
      body: ChatMessage,
      response: { 200: ChatAnswered },
    },
    handler: async (request) =>
      plain(await chats.say(orgOf(request), request.params.id, request.body.message)),
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway/chat',
    config: { access: 'read' },
    schema: {
      summary: 'Chats of the last 24 hours, latest message first',
      querystring: ChatQuery,
      response: { 200: ChatList },
    },
    handler: async (request) => {
      const { limit = 50, offset = 0 } = request.query;
      const { rows, total } = await listChats(db, services.clock, orgOf(request), { limit, offset });
      return plain({ chats: rows.map(chatLine), total_count: total });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/pathway/chat/:id',
    config: { access: 'read', errors: ['CHAT_NOT_FOUND'] },
    schema: { summary: 'One chat', params: ChatPath, response: { 200: ChatOne } },
    handler: async (request) => plain(await chats.read(orgOf(request), request.params.id)),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/pathway/chat/:id',
    config: { access: 'member', errors: ['CHAT_NOT_FOUND'] },
    schema: { summary: 'Delete a chat', params: ChatPath, response: { 200: ChatDeleted } },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { id } = request.params;
      await db.transaction().execute(async (trx) => {
        if (!(await deleteChat(trx, orgId, id))) throw ApiError.of('CHAT_NOT_FOUND');
        const change = { orgId, area: 'chats', subject: id, action: 'delete' };
        await recordChange(trx, services.clock, actorOf(request), change);
      });
      return plain({ deleted: true as const });
    },
  });
}
