/** GET /openapi.json and GET /docs: made from the routes' own schemas (contract 14.2). */
import swagger from '@fastify/swagger';
import { type ApiErrorCode, apiErrors } from '#shared/errors.ts';
import type { App } from '../http/app-types.ts';
import { groupOf } from '../http/groups.ts';
import { docsPage, type OpenApiDocument } from './docs-page.ts';

/** Codes of every endpoint that needs a key (contract 1.3). */
const everywhere: readonly ApiErrorCode[] = ['AUTH_FAILURE', 'RATE_LIMITED', 'INTERNAL_ERROR'];
const ofBodies: readonly ApiErrorCode[] = [
  'INVALID_PARAMETER',
  'UNKNOWN_PROPERTY',
  'INVALID_JSON',
  'IDEMPOTENCY_CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];

/** Must be called before the routes that it describes are added. */
export function addOpenApi(app: App): void {
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
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const config = route.config ?? {};
      const open = config.access === 'public';
      const codes = [
        ...(open ? (['INTERNAL_ERROR'] as const) : everywhere),
        ...(schema?.body ? ofBodies : []),
        ...(schema?.querystring ? (['INVALID_PARAMETER'] as const) : []),
        ...(url.startsWith('/v1/sip') ? (['SIP_NOT_ENABLED'] as const) : []),
        ...(config.errors ?? []),
      ];
      const response = { ...responsesOf(schema?.response), ...errorAnswers(url, codes) };
      const security = open ? [] : [{ key: [] }];
      return { url, schema: { ...schema, tags: [tagOf(url)], security, response } };
    },
  });
}

function responsesOf(response: unknown): Record<string, unknown> {
  const declared = typeof response === 'object' && response !== null ? response : {};
  const described = Object.entries(declared).map(([status, schema]: [string, object]) => [
    status,
    { description: status === '200' ? 'Success' : 'Not ready', ...schema },
  ]);
  return described.length === 0 ? { 200: { description: 'Success' } } : Object.fromEntries(described);
}

/** One answer per status, which names the codes that come with it. */
function errorAnswers(url: string, codes: readonly ApiErrorCode[]): Record<string, unknown> {
  const byStatus = Map.groupBy(new Set(codes), (code) => apiErrors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      { description: list.join(', '), ...errorSchema(url, list) },
    ]),
  );
}

function errorSchema(url: string, codes: readonly ApiErrorCode[]): Record<string, unknown> {
  const code = { type: 'string', enum: [...codes] };
  const item = {
    type: 'object',
    required: ['error', 'code', 'message'],
    properties: { error: code, code, message: { type: 'string' }, details: { type: 'object' } },
  };
  const errors = { type: 'array', items: item };
  const flat = groupOf(url) === 'flat';
  const properties = flat
    ? { status: { const: 'error' }, message: { type: 'string' }, errors }
    : { data: { type: 'null' }, errors };
  return { type: 'object', required: Object.keys(properties), properties };
}

function tagOf(url: string): string {
  const [, version, area] = url.split('/');
  return /^v[0-9]+$/.test(version ?? '') ? (area ?? '') : 'deployment';
}

export function openApiRoutes(app: App): void {
  let page: string | undefined;
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: 'public' },
    schema: { summary: 'This interface as an OpenAPI 3.1 document' },
    handler: async () => app.swagger(),
  });
  app.route({
    method: 'GET',
    url: '/docs',
    config: { access: 'public' },
    schema: { summary: 'This interface as a page' },
    handler: async (_request, reply) => {
      page ??= docsPage(app.swagger() as OpenApiDocument);
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .send(page);
    },
  });
}
