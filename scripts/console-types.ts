/**
 * `node scripts/console-types.ts` writes console/api/generated.ts: the types of the operations that the console uses,
 * from the OpenAPI document of the API itself.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpenApiDocument, Operation } from '../control/deployment/openapi-document.ts';

/** What the console asks of the API. */
const used = [
  'GET /v1/session',
  'POST /v1/session',
  'DELETE /v1/session',
  'GET /v1/sessions',
  'DELETE /v1/sessions/{id}',
  'GET /v1/sip/calls',
  'GET /v1/sip/calls/aggregates',
  'GET /v1/sip/refused',
  'POST /v1/sip/update',
  'GET /v1/sip/calls/{call_id}',
  'GET /v1/sip/calls/{call_id}/trace',
  'GET /v1/sip/calls/{call_id}/quality',
  'GET /v1/sip/calls/{call_id}/timeline',
  'GET /v1/calls/{call_id}',
  'GET /v1/calls/{call_id}/recording/details',
  'GET /v1/calls/{call_id}/recording/peaks',
  'GET /v1/calls/transcripts',
  'POST /v1/calls/{call_id}/stop',
  'GET /v1/calls/{call_id}/supervisors',
  'POST /v1/calls/{call_id}/supervisors',
  'PATCH /v1/calls/{call_id}/supervisors/{id}',
  'DELETE /v1/calls/{call_id}/supervisors/{id}',
  'POST /v1/calls/{call_id}/whisper',
  'POST /v1/calls/active/transfer',
  'GET /v1/admin/edges',
  'PATCH /v1/admin/edges/{id}',
  'GET /v1/sip/numbers',
  'POST /v1/phone-sessions',
  'GET /v1/sip',
  'GET /v1/sip/status',
  'PATCH /v1/sip/config',
  'POST /v1/sip/register-now',
  'GET /v1/sip/alerts',
  'GET /v1/sip/firewall-ips',
  'GET /v1/sip/outbound-setup',
  'POST /v1/sip/attach',
  'POST /v1/sip/discover',
  'GET /v1/sip/discover/status',
  'POST /v1/sip/test-call',
  'GET /v1/sip/test-call/status',
  'GET /v1/agent-testing/scenarios',
  'GET /v1/agent-testing/scenarios/{id}',
  'POST /v1/agent-testing/scenarios/{id}/run',
  'GET /v1/agent-testing/templates',
  'POST /v1/agent-testing/templates/{id}/clone',
  'GET /v1/agent-testing/runs',
  'GET /v1/agent-testing/runs/{id}',
  'POST /v1/agent-testing/runs/{id}/cancel',
  'POST /v1/agent-testing/runs/{id}/analyze',
  'POST /v1/agent-testing/batch-run',
  'GET /v1/agent-testing/batches',
  'GET /v1/agent-testing/batches/{id}',
  'POST /v1/agent-testing/simulation-sets',
  'GET /v1/agent-testing/simulation-sets',
  'GET /v1/agent-testing/simulation-sets/{id}',
  'GET /v1/agent-testing/loads',
  'GET /v1/agent-testing/loads/{id}',
  'POST /v1/agent-testing/loads/{id}/cancel',
  'GET /v1/agent-testing/watches',
  'POST /v1/agent-testing/watches',
  'GET /v1/agent-testing/watches/{id}',
  'PUT /v1/agent-testing/watches/{id}',
  'DELETE /v1/agent-testing/watches/{id}',
  'GET /v1/agent-testing/watches/{id}/calls',
  'POST /v1/agent-testing/watches/{id}/calls/{call_id}/scenario',
  'POST /v1/agent-testing/simulation-sets/{id}/cancel',
  'POST /v1/agent-testing/tornado/start',
  'GET /v1/agent-testing/tornado',
  'GET /v1/agent-testing/tornado/{id}/status',
  'POST /v1/agent-testing/tornado/{id}/cancel',
  'POST /v1/agent-testing/tornado/{id}/accept',
  'GET /v1/agent-testing/analytics/{pathwayId}/enhanced',
  'GET /v1/agent-testing/analytics/{pathwayId}/versions',
  'GET /v1/agent-testing/agents',
  'GET /v1/pathway',
  'GET /v1/pathway/{id}',
  'POST /v1/pathway/create',
  'POST /v1/pathway/{id}',
  'DELETE /v1/pathway/{id}',
  'GET /v1/pathway/{id}/versions',
  'POST /v1/pathway/{id}/version',
  'GET /v1/pathway/{id}/version/{version_id}',
  'POST /v1/pathway/{id}/version/{version_id}',
  'POST /v1/pathway/chat/create',
  'POST /v1/pathway/chat/{id}',
  'DELETE /v1/pathway/chat/{id}',
  'DELETE /v1/pathway/{id}/version/{version_id}',
  'GET /v1/pathway/{id}/version/{version_id}/gate',
  'POST /v1/pathway/{id}/publish',
  'GET /v1/widget',
  'POST /v1/widget',
  'GET /v1/widget/{id}',
  'PATCH /v1/widget/{id}',
  'DELETE /v1/widget/{id}',
  'GET /v1/widget/{id}/threads',
  'POST /v1/widget/{id}/threads',
  'POST /v1/widget/{id}/threads/{thread_id}/messages',
  'POST /v1/widget/{id}/threads/{thread_id}/handoff',
  'POST /v1/widget/{id}/threads/{thread_id}/end',
  'POST /v1/widget/{id}/threads/{thread_id}/call',
  'GET /v2/tools',
  'GET /v2/tools/{id}',
  'POST /v2/tools',
  'POST /v2/tools/{id}',
  'DELETE /v2/tools/{id}',
  'POST /v2/tools/{id}/run',
  'GET /v2/tools/{id}/logs',
  'GET /v1/personas',
  'GET /v1/sip/port',
  'GET /v1/sip/port/{id}',
  'GET /v1/sip/port/check',
  'POST /v1/sip/port/initiate',
  'GET /v1/sip/port/document',
  'DELETE /v1/sip/port/document/{document_sid}',
  'DELETE /v1/sip/port/{id}',
  'GET /v1/admin/ports',
  'GET /v1/admin/ports/{id}',
  'POST /v1/admin/ports/{id}/status',
  'GET /v1/org/settings',
  'PATCH /v1/org/settings',
  'POST /v1/org/webhook-secret',
  'GET /v1/org/keys',
  'POST /v1/org/keys',
  'POST /v1/org/keys/{id}/rotate',
  'DELETE /v1/org/keys/{id}',
  'GET /v1/org/audit',
  'GET /v1/org/webhook-deliveries',
  'GET /v1/org/webhook-deliveries/{id}',
  'POST /v1/org/webhook-deliveries/{id}/redeliver',
] as const;

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

export const generatedFile = join(dirname(import.meta.dirname), 'console', 'api', 'generated.ts');

/** @throws Error for an operation that the document lacks */
export function consoleTypes(document: OpenApiDocument): string {
  const rows = used.map((name) => {
    const [method = '', path = ''] = name.split(' ');
    const operation = document.paths?.[path]?.[method.toLowerCase()];
    if (!operation) throw new Error(`the API has no ${name}`);
    return `  '${name}': {\n${membersOf(operation).join('')}  };\n`;
  });
  return `${head}export interface Operations {\n${rows.join('')}}\n`;
}

const head = `/**
 * Written by \`node scripts/console-types.ts\` from the OpenAPI document; do not edit.
 * Long because it is one table of operations.
 */
`;

function membersOf({ parameters = [], requestBody, responses = {} }: Operation): string[] {
  const kind = (where: string) =>
    typeOf({
      type: 'object',
      properties: Object.fromEntries(
        parameters.filter((one) => one.in === where).map((one) => [one.name, asSchema(one.schema)]),
      ),
      required: parameters.filter((one) => one.in === where && one.required).map((one) => one.name),
    });
  const media = (content: Record<string, { readonly schema?: unknown }> = {}) => Object.values(content)[0];
  const body = media(requestBody?.content);
  const answer = media(responses['200']?.content);
  return [
    `    path: ${kind('path')};\n`,
    `    query: ${kind('query')};\n`,
    `    body: ${body ? typeOf(asSchema(body.schema)) : 'undefined'};\n`,
    `    answer: ${answer ? typeOf(asSchema(answer.schema)) : 'unknown'};\n`,
  ];
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? value : {};
}

const words: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** The TypeScript type of a value that matches the schema. */
function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return union(either.map(typeOf));
  if (schema.allOf) return schema.allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  if (Array.isArray(schema.type))
    return union(schema.type.map((type: string) => typeOf({ ...schema, type })));
  if (schema.type === 'array') return `readonly (${schema.items ? typeOf(schema.items) : 'unknown'})[]`;
  if (schema.type === 'object' || schema.properties) return objectType(schema);
  return words[String(schema.type)] ?? 'unknown';
}

function objectType({
  properties = {},
  required = [],
  additionalProperties,
  patternProperties = {},
}: Schema) {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `readonly ${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  const [others] = Object.values(patternProperties);
  if (others) members.push(`readonly [name: string]: ${typeOf(others)}`);
  else if (additionalProperties !== undefined && additionalProperties !== false && members.length === 0)
    members.push(
      `readonly [name: string]: ${additionalProperties === true ? 'unknown' : typeOf(additionalProperties)}`,
    );
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{ ${members.join('; ')} }`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].map((type) => (type.startsWith('readonly ') ? `(${type})` : type)).join(' | ');
}

if (import.meta.main) {
  const { pino } = await import('pino');
  const { createApp } = await import('../control/app.ts');
  const { readControlConfig } = await import('../control/settings/index.ts');
  const config = readControlConfig({ DATABASE_URL: ':memory:', TRUNKLINE_SECRET_KEY: '11'.repeat(32) });
  const control = await createApp({ config, logger: pino({ level: 'silent' }) });
  const document: OpenApiDocument = JSON.parse(JSON.stringify(control.app.swagger()));
  writeFileSync(generatedFile, consoleTypes(document));
  await control.close();
}
