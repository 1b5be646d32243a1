/** GET /openapi.json and the pages under /docs: generated from the routes' own schemas (contract 14.2). */
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import type { App } from '../http/index.ts';
import { ApiDocument } from './api-document.ts';
import { CompressedTexts } from './docs/compressed.ts';
import { docsRoutes } from './docs/routes.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { errorAnswers } from './openapi-errors.ts';
import { exampleOf } from './openapi-examples.ts';
import { requestExamples } from './request-examples.ts';

/** Call before adding the routes that it describes. */
export function addOpenApi(app: App): ApiDocument {
  const made = new ApiDocument(() => app.swagger());
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Trunkline',
        version: '1',
        description: 'Connects carriers and PBXs to voice agents.',
      },
      components: {
        securitySchemes: {
          key: {
            type: 'apiKey',
            in: 'header',
            name: 'authorization',
            description: 'The key, or Bearer and the key',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-trunkline_session',
            description: 'Set by POST /v1/session; without TLS on loopback its name is trunkline_session',
          },
          csrf: {
            type: 'apiKey',
            in: 'header',
            name: 'x-csrf-token',
            description: 'csrf_token of GET /v1/session',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => {
      if (!made.isTurnOf()) return { url, schema: { hide: true } };
      const { access = 'public', errors = [], errorStatuses = {}, keyItself = false } = route.config ?? {};
      const described = { url, method: route.method, access, keyItself, errors, statuses: errorStatuses };
      const refusals = errorAnswers({
        ...described,
        hasBody: schema?.body !== undefined,
        hasQuery: schema?.querystring !== undefined,
      });
      const needsKey = access !== 'public' && access !== 'edge';
      const changes = route.method !== 'GET';
      return {
        url,
        schema: {
          // swagger would also give errors a file's content type.
          ...withoutProduces(schema),
          ...(isObject(schema?.body) && { body: bodyWithExample(route.method, url, schema.body) }),
          ...(needsKey &&
            !keyItself &&
            [route.method].flat().includes('POST') && {
              headers: withIdempotencyKey(schema?.headers, route.config),
            }),
          tags: [tagOf(url)],
          security: needsKey ? [{ key: [] }, ...(keyItself ? [] : [ofSession(changes)])] : [],
          ...(needsKey && { 'x-least-role': access === 'any_key' ? null : access }),
          response: { ...refusals, ...successAnswers(schema?.response, schema?.produces) },
        },
      };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject;
      made.take(document.openapiObject as OpenApiDocument);
      // What is null is not kept: the next turn gets its own.
      return null as never;
    },
  });
  return made;
}

/** A session is enough to read; its CSRF token is needed to change something. */
function ofSession(changes: boolean): Record<string, string[]> {
  return { session: [], ...(changes && { csrf: [] }) };
}

function bodyWithExample(method: string | string[], url: string, body: object): object {
  const written = requestExamples[`${[method].flat()[0]} ${url}`];
  return { ...body, 'x-examples': { request: { value: written ?? exampleOf(body, 'required') } } };
}

/** What happens to a request with a key after a restart interrupted it (http/idempotency.ts). */
function withIdempotencyKey(
  headers: unknown,
  { atomic = false, resumable = false }: Partial<FastifyContextConfig> = {},
): object {
  const cutOff =
    atomic || resumable
      ? 'A request that a restart cut off is carried out once, too.'
      : 'A request interrupted by a restart may have been carried out: it is rejected with IDEMPOTENCY_CONFLICT and `outcome: unknown`.';
  const key = {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: `For 24 hours the same key with the same body gets the first response again. ${cutOff}`,
  };
  const declared =
    isObject(headers) && 'properties' in headers && isObject(headers.properties) ? headers.properties : {};
  return { type: 'object', properties: { ...declared, 'idempotency-key': key } };
}

const descriptions: Readonly<Record<string, string>> = { 200: 'Success', 202: 'Accepted', 503: 'Not ready' };

function withoutProduces({ produces: _, ...schema }: FastifySchema = {}): FastifySchema {
  return schema;
}

/** @param produces content types of a response that is not JSON */
function successAnswers(response: unknown, produces: readonly string[] = []): Record<string, object> {
  const declared = isObject(response) ? Object.entries(response) : [];
  if (declared.length === 0) {
    const content = Object.fromEntries(produces.map((type) => [type, { schema: { type: 'string' } }]));
    return {
      200: {
        description: 'Success',
        ...(produces.length > 0 ? { content } : { 'x-response-description': 'Success' }),
      },
    };
  }
  return Object.fromEntries(
    declared.map(([status, schema]: [string, object]) => [
      status,
      {
        'x-response-description': descriptions[status] ?? 'Answer',
        'x-examples': { answer: { value: exampleOf(schema, 'all') } },
        ...schema,
      },
    ]),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function tagOf(url: string): string {
  const [, version, area] = url.split('/');
  return /^v[0-9]+$/.test(version ?? '') ? (area ?? '') : 'deployment';
}

export function openApiRoutes(app: App, document: ApiDocument): void {
  const texts = new CompressedTexts();
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: 'public' },
    schema: { summary: 'This API as an OpenAPI 3.1 document', produces: ['application/json'] },
    handler: async (request, reply) =>
      texts.send(request, reply, '/openapi.json', await document.text(), 'application/json; charset=utf-8'),
  });
  docsRoutes(app, () => document.made(), texts);
}
