/**
 * `node scripts/api-types.ts` writes clients/typescript/src/generated*.ts: what each operation of the API takes and
 * returns, how its lists are paged, and what its webhooks post, from the OpenAPI document of the API itself. The SDK and
 * the console use it.
 *
 * A generator of our own: openapi-typescript needs the compiler API of TypeScript 5, and its table of paths by method
 * would have to be turned into one of operations.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OpenApiDocument, Operation } from '../control/deployment/openapi-document.ts';

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
  readonly maximum?: number;
  readonly description?: string;
}

const sources = join(dirname(import.meta.dirname), 'clients', 'typescript', 'src');

/** Those of edges are no part of the contract. */
const isOfCustomers = (path: string) => !path.startsWith('/v1/edge/');

interface Named {
  /** `GET /v1/calls` */
  readonly name: string;
  readonly operation: Operation;
}

/**
 * The text of each file, by its path. What a program needs when it runs is apart from the types, which are long.
 */
export function apiFiles(document: OpenApiDocument): Readonly<Record<string, string>> {
  const operations = Object.entries(document.paths ?? {})
    .filter(([path]) => isOfCustomers(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]): Named => ({ name: `${method.toUpperCase()} ${path}`, operation }),
      ),
    );
  const lists = operations.flatMap(({ name, operation }) => {
    const shape = listShape(operation);
    return shape ? [{ name, shape }] : [];
  });
  const unkeyed = operations.filter(
    ({ name, operation }) => name.startsWith('POST ') && !takesKey(operation),
  );
  const types = [
    head,
    'export interface Operations {\n',
    ...operations.map(operationRow),
    '}\n\n/** The data of each webhook, by type. */\nexport interface WebhookEvents {\n',
    ...Object.entries(document.webhooks ?? {}).map(webhookRow),
    '}\n\n/** The items of each list. */\nexport interface ListItems {\n',
    ...lists.map(
      ({ name, shape }) =>
        `  '${name}': Operations['${name}']['answer']${shape.items.map((part) => `['${part}']`).join('')}[number];\n`,
    ),
    '}\n',
  ];
  const values = [
    written,
    "import type { ListItems } from './generated.ts';\n\n",
    listShapeText,
    'export const lists: Readonly<Record<keyof ListItems, ListShape>> = {\n',
    ...lists.map(({ name, shape }) => `  '${name}': ${shapeText(shape)},\n`),
    '};\n\n/** POSTs that take no Idempotency-Key. */\nexport const unkeyed: readonly string[] = [\n',
    ...unkeyed.map(({ name }) => `  '${name}',\n`),
    '];\n',
  ];
  return {
    [join(sources, 'generated.ts')]: types.join(''),
    [join(sources, 'generated-lists.ts')]: values.join(''),
  };
}

const written = `/** Written by \`node scripts/api-types.ts\` from the OpenAPI document; do not edit. */
`;

const head = `/**
 * Written by \`node scripts/api-types.ts\` from the OpenAPI document; do not edit.
 * Long because it is one table of operations.
 */
`;

const listShapeText = `export interface ListShape {
  /** The parameter that selects the next page. */
  readonly by: 'before' | 'after' | 'page' | 'offset';
  /** Where the items are in the answer. */
  readonly items: readonly string[];
  /** Largest page. */
  readonly most: number;
}

`;

interface Shape {
  readonly by: string;
  readonly items: readonly string[];
  readonly most: number;
}

function shapeText({ by, items, most }: Shape): string {
  return `{ by: '${by}', items: [${items.map((part) => `'${part}'`).join(', ')}], most: ${most} }`;
}

/** How a list is paged; null: it is none. @throws Error when it is not clear where its items are */
function listShape(operation: Operation): Shape | null {
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query');
  const by = ['before', 'after', 'page', 'offset'].find((name) => query.some((one) => one.name === name));
  const limit = asSchema(query.find(({ name }) => name === 'limit')?.schema);
  const answer = asSchema(jsonOf(operation)?.schema);
  if (by === undefined || limit.maximum === undefined) return null;
  return { by, items: itemsPath(answer), most: limit.maximum };
}

/** An array of objects: the answer itself, `data`, or the first one in `data` or in the answer. */
function itemsPath(answer: Schema): string[] {
  const { data } = answer.properties ?? {};
  const isList = (schema: Schema | undefined) => schema?.type === 'array' && schema.items?.type === 'object';
  const inside = ({ properties = {} }: Schema) =>
    Object.entries(properties).find(([, one]) => isList(one))?.[0];
  if (isList(answer)) return [];
  if (isList(data)) return ['data'];
  const [ofData, own] = [data && inside(data), inside(answer)];
  if (ofData !== undefined) return ['data', ofData];
  if (own !== undefined) return [own];
  throw new Error(`no list in ${JSON.stringify(answer).slice(0, 200)}`);
}

function takesKey({ parameters = [] }: Operation): boolean {
  return parameters.some(({ in: where, name }) => where === 'header' && name === 'idempotency-key');
}

function operationRow({ name, operation }: Named): string {
  const summary = operation.summary ? `  /** ${operation.summary.replaceAll('*/', '* /')} */\n` : '';
  return `${summary}  '${name}': {\n${membersOf(operation).join('')}  };\n`;
}

function webhookRow([type, { post }]: [string, Record<string, Operation>]): string {
  const body = asSchema(Object.values(post?.requestBody?.content ?? {})[0]?.schema);
  // All but one are in an envelope that has their type.
  const data = body.properties?.type?.const === type ? body.properties.data : body;
  return `  /** ${post?.summary} */\n  '${type}': ${typeOf(data ?? {})};\n`;
}

/** What a success with JSON returns. */
function jsonOf({ responses = {} }: Operation) {
  return (responses['200'] ?? responses['202'])?.content?.['application/json'];
}

function membersOf(operation: Operation): string[] {
  const { parameters = [], requestBody, responses = {} } = operation;
  const kind = (where: string) => {
    const own = parameters.filter((one) => one.in === where);
    return typeOf({
      type: 'object',
      properties: Object.fromEntries(
        own.map(({ description, name, schema }) => [
          name,
          { ...asSchema(schema), ...(description !== undefined && { description }) },
        ]),
      ),
      required: own.filter(({ required }) => required).map(({ name }) => name),
    });
  };
  const body = Object.values(requestBody?.content ?? {})[0];
  const answer = jsonOf(operation);
  const isFile = !answer && Object.keys(responses['200']?.content ?? {}).length > 0;
  return [
    `    path: ${kind('path')};\n`,
    `    query: ${kind('query')};\n`,
    `    body: ${body ? typeOf(asSchema(body.schema)) : 'undefined'};\n`,
    `    answer: ${answer ? answerType(asSchema(answer.schema)) : isFile ? 'Response' : 'unknown'};\n`,
  ];
}

/** A route that declares a media type alone has the schema of a text. */
function answerType(schema: Schema): string {
  return schema.type === 'string' ? 'unknown' : typeOf(schema);
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
      `${commentOf(schema)}readonly ${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  const [others] = Object.values(patternProperties);
  if (others) members.push(`readonly [name: string]: ${typeOf(others)}`);
  else if (additionalProperties !== undefined && additionalProperties !== false && members.length === 0)
    members.push(
      `readonly [name: string]: ${additionalProperties === true ? 'unknown' : typeOf(additionalProperties)}`,
    );
  return members.length === 0 ? 'Readonly<Record<string, never>>' : `{ ${members.join('; ')} }`;
}

/** What an editor shows of a property. */
function commentOf({ description }: Schema): string {
  return description === undefined
    ? ''
    : `/** ${description.replaceAll(/\s+/g, ' ').replaceAll('*/', '* /')} */ `;
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
  const { body } = await control.app.inject({ url: '/openapi.json' });
  const document: OpenApiDocument = JSON.parse(body);
  for (const [file, text] of Object.entries(apiFiles(document))) writeFileSync(file, text);
  await control.close();
}
