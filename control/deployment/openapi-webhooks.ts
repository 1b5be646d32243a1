/** The events that are posted to customers' URLs, as `webhooks` of the OpenAPI document (contract 13). */
import { Type } from 'typebox';
import { Iso } from '#shared/api/common.ts';
import { webhookEvents } from '#shared/api/webhook-events.ts';
import { described } from '#shared/described.ts';
import type { Operation, Parameter } from './openapi-document.ts';
import { exampleOf } from './openapi-examples.ts';

/** What every attempt carries (webhooks/rules.ts). */
const headers: readonly (readonly [name: string, description: string, example: string])[] = [
  ['X-Webhook-Event', 'The type of the event', 'call.completed'],
  [
    'X-Webhook-Id',
    'The same in every attempt: an event that comes again has the id that you have seen',
    'evt_3f2b8c1e-5d4a-4b6f-9c7e-1a2b3c4d5e6f',
  ],
  ['X-Webhook-Attempt', 'Number of the attempt, from 1', '1'],
  ['X-Webhook-Timestamp', 'Unix seconds of the attempt', '1893456000'],
  [
    'X-Webhook-Signature',
    'Lower-case hex HMAC-SHA256 of the raw body; the key is the text of the signing secret of the organization',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ],
  [
    'X-Webhook-Signature-Timed',
    't=<X-Webhook-Timestamp>,v1=<hex HMAC-SHA256 of the time, a dot, the id, a dot and the raw body, with the same key>',
    't=1893456000,v1=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ],
];

/** By event type. */
export function openApiWebhooks(): Record<string, Record<string, Operation>> {
  return Object.fromEntries(
    Object.entries(webhookEvents).map(([type, { summary, data, ...more }]) => {
      const schema = 'isBare' in more ? data : inEnvelope(type, data);
      const operation: Operation = {
        operationId: `webhook_${type.replaceAll('.', '_')}`,
        summary,
        tags: ['webhooks'],
        security: [],
        parameters: headers.map(headerOf),
        requestBody: {
          content: {
            'application/json': { schema, examples: { request: { value: exampleOf(schema, 'all') } } },
          },
        },
        responses: {
          '2XX': { description: 'The event is delivered' },
          410: { description: 'The attempts end' },
          default: {
            description:
              'The event is sent again: at most 5 attempts, 0, 10, 50, 200 and 560 s after the first',
          },
        },
      };
      return [type, { post: operation }];
    }),
  );
}

function inEnvelope(type: string, data: (typeof webhookEvents)[keyof typeof webhookEvents]['data']) {
  return Type.Object({
    id: Type.String({ description: 'As in X-Webhook-Id' }),
    type: Type.Literal(type, { description: 'As in X-Webhook-Event' }),
    created_at: Iso('When it happened'),
    org_id: Type.String({ description: 'Id of the organization' }),
    data: described(data, 'What happened'),
  });
}

function headerOf([name, description, example]: (typeof headers)[number]): Parameter {
  return { name, in: 'header', required: true, description, schema: { type: 'string', examples: [example] } };
}
