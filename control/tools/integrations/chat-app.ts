import { isObject } from '#shared/agent/graph-problem.ts';
import { bearer, type Integration, params, text } from './integration.ts';

const headers = bearer('token');

/** The service answers failures with 200, `ok: false` and a short code. */
function refusal(answer: unknown): string | null {
  if (!isObject(answer) || answer.ok !== false) return null;
  return typeof answer.error === 'string' ? answer.error.slice(0, 100) : 'no reason given';
}

/** Messages and channels of a team's chat. */
export const chatApp: Integration = {
  key: 'chat-app',
  credentials: { needed: true, texts: ['token'], baseUrl: 'required', headers: false },
  actions: [
    {
      key: 'send_message',
      name: 'Send a message',
      description: 'Posts a message to a channel.',
      kind: 'service',
      headers,
      refusal,
      inputSchema: params(
        {
          channel: text('id or name of the channel'),
          text: text('text of the message'),
          thread_ts: text('message that this one answers'),
        },
        ['channel', 'text'],
      ),
      request: {
        method: 'POST',
        path: '/chat.postMessage',
        body: { channel: '{{input.channel}}', text: '{{input.text}}', thread_ts: '{{input.thread_ts}}' },
      },
    },
    {
      key: 'create_channel',
      name: 'Create a channel',
      description: 'Creates a channel.',
      kind: 'service',
      headers,
      refusal,
      inputSchema: params({ name: text('name of the channel'), is_private: { type: 'boolean' } }, ['name']),
      request: {
        method: 'POST',
        path: '/conversations.create',
        body: { name: '{{input.name}}', is_private: '{{input.is_private}}' },
      },
    },
  ],
};
