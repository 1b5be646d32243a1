/** /v1/pathway/chat: a pathway is tried in text (contract 11.3). */
import { ChatAnswered, ChatCreate, ChatCreated, ChatMessage, ChatPath } from '#shared/api/chats.ts';
import { plain } from '#shared/api/common.ts';
import { type App, orgOf } from '../http/app-types.ts';
import type { Services } from '../services.ts';
import { Chats } from './chats.ts';

export function chatRoutes(app: App, services: Services): void {
  const chats = new Chats(services);

  app.route({
    method: 'POST',
    url: '/v1/pathway/chat/create',
    config: { errors: ['PATHWAY_NOT_FOUND', 'VERSION_NOT_FOUND', 'MODEL_UNAVAILABLE'] },
    schema: {
      summary: 'Begin a chat with a pathway',
      body: ChatCreate,
      response: { 200: ChatCreated },
    },
    handler: async (request) => plain(await chats.create(orgOf(request), request.body)),
  });

  app.route({
    method: 'POST',
    url: '/v1/pathway/chat/:id',
    config: { errors: ['CHAT_NOT_FOUND', 'CHAT_COMPLETED', 'MODEL_UNAVAILABLE'] },
    schema: {
      summary: 'Say something in a chat',
      params: ChatPath,
      body: ChatMessage,
      response: { 200: ChatAnswered },
    },
    handler: async (request) =>
      plain(await chats.say(orgOf(request), request.params.id, request.body.message)),
  });
}
