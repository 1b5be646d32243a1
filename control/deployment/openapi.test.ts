import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookEvents } from '#shared/api/webhook-events.ts';
import { apiErrors } from '#shared/errors.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { ownOpenApiOf } from '../../test/kit/control/openapi.ts';
import type { Media, OpenApiDocument, Operation } from './openapi-document.ts';
import { exampleOf } from './openapi-examples.ts';

let test: TestControl;
let document: OpenApiDocument;
beforeAll(async () => {
  test = await startRoutes();
  document = await ownOpenApiOf(test);
});
afterAll(() => test.close());

interface Described {
  readonly name: string;
  readonly path: string;
  readonly operation: Operation;
}

function operations(): Described[] {
  return operationsIn(document.paths);
}

function operationsIn(paths: OpenApiDocument['paths'] = {}): Described[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  );
}

/** Every body of every operation and webhook, with its location. */
function media(): (Media & { name: string })[] {
  return [...operations(), ...operationsIn(document.webhooks)].flatMap(({ name, operation }) => {
    const answers = Object.entries(operation.responses ?? {}).flatMap(([status, { content = {} }]) =>
      Object.values(content).map((one) => ({ ...one, name: `${name} ${status}` })),
    );
    const bodies = Object.values(operation.requestBody?.content ?? {});
    return [...answers, ...bodies.map((one) => ({ ...one, name: `${name} body` }))];
  });
}

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** OpenAPI 3.0 keywords that JSON Schema 2020-12 does not have. */
const outdated = ['nullable', 'example', 'discriminator'];

/** Parts of a schema that are not JSON Schema 2020-12, as paths. */
function schemaProblems(schema: unknown, path: string): string[] {
  if (typeof schema === 'boolean') return [];
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [`${path}: no schema`];
  const found: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${path}/${keyword}`;
    if (outdated.includes(keyword)) found.push(`${at}: outdated`);
    if (keyword === 'type' && ![value].flat().every((type: unknown) => types.includes(String(type))))
      found.push(`${at}: ${String(value)}`);
    if (keyword === 'enum' && !(Array.isArray(value) && value.length > 0)) found.push(`${at}: empty`);
    if (keyword === 'required' && !(Array.isArray(value) && new Set(value).size === value.length))
      found.push(`${at}: names a property twice`);
    if (keyword === 'pattern') new RegExp(String(value), 'u');
    if (['properties', 'patternProperties', '$defs'].includes(keyword)) {
      for (const [name, part] of Object.entries(value)) found.push(...schemaProblems(part, `${at}/${name}`));
    }
    if (['items', 'additionalProperties', 'not'].includes(keyword)) found.push(...schemaProblems(value, at));
    if (['anyOf', 'oneOf', 'allOf'].includes(keyword)) {
      if (!Array.isArray(value) || value.length === 0) found.push(`${at}: empty`);
      else value.forEach((part, index) => void found.push(...schemaProblems(part, `${at}/${index}`)));
    }
  }
  return found;
}

/** Every property of a schema, at any depth, with its path. */
function propertiesOf(schema: unknown, path: string): { readonly path: string; readonly schema: Property }[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
    if (typeof value !== 'object' || value === null) return [];
    if (keyword === 'properties') {
      return Object.entries(value).flatMap(([name, part]: [string, Property]) => [
        { path: `${path}.${name}`, schema: part },
        ...propertiesOf(part, `${path}.${name}`),
      ]);
    }
    if (['items', 'additionalProperties', 'not'].includes(keyword)) return propertiesOf(value, `${path}[]`);
    if (!['anyOf', 'oneOf', 'allOf', 'patternProperties', '$defs'].includes(keyword)) return [];
    return Object.values(value).flatMap((part: unknown) => propertiesOf(part, path));
  });
}

interface Property {
  readonly description?: string;
  readonly anyOf?: readonly { readonly type?: string }[];
}

/** A property that says nothing, or may be null and does not say what that means. */
function isSilent({ description = '', anyOf = [] }: Property): boolean {
  const mayBeNull = anyOf.some(({ type }) => type === 'null');
  return description.trim() === '' || (mayBeNull && !/\bnull\b/.test(description));
}

describe('the OpenAPI document', () => {
  it('says what each property and parameter means, and what null means where it may be null', () => {
    const parameters = operations().flatMap(({ name, operation }) =>
      (operation.parameters ?? []).map((one) => ({ path: `${name} ?${one.name}`, schema: one as Property })),
    );
    const properties = media().flatMap(({ name, schema }) => propertiesOf(schema, name));
    expect(properties.length).toBeGreaterThan(15_000);
    const silent = [...parameters, ...properties].filter(({ schema }) => isSilent(schema));
    expect(silent.map(({ path }) => path)).toEqual([]);
    expect([{}, { anyOf: [{ type: 'null' }], description: 'Its end' }].every(isSilent)).toBe(true);
  });

  it('is the same whatever is set', async () => {
    const other = await startRoutes({
      CONTROL_HOST: '0.0.0.0',
      SIP_PUBLIC_HOST: 'sip.example.com',
      SIP_WSS_PORT: '5062',
      RATE_LIMIT_PER_MINUTE: '7',
      QUOTAS: 'numbers=3',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      SMTP_URL: 'smtp://127.0.0.1:25',
      MAIL_FROM: 'alerts@example.com',
    });
    try {
      expect(await ownOpenApiOf(other)).toEqual(document);
    } finally {
      await other.close();
    }
  });

  it('is valid by the meta-schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...document })).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has the webhooks, each with an id of its own', () => {
    expect(Object.keys(document.webhooks ?? {})).toEqual(Object.keys(webhookEvents));
    const ids = [...operations(), ...operationsIn(document.webhooks)].map(
      ({ operation }) => operation.operationId,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lists each path once, and declares exactly the parameters of its template', () => {
    const paths = Object.keys(document.paths ?? {});
    expect(paths.length).toBeGreaterThan(30);
    const nameless = paths.map((path) => path.replaceAll(/\{[^}]*\}/g, '{}'));
    expect(nameless.filter((path, index) => nameless.indexOf(path) !== index)).toEqual([]);
    const wrong = operations().filter(({ path, operation: { parameters = [] } }) => {
      const inTemplate = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name).sort();
      const declared = parameters.filter((one) => one.in === 'path' && one.required === true);
      return JSON.stringify(declared.map((one) => one.name).sort()) !== JSON.stringify(inTemplate);
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('has a summary, a unique id, a tag and a described success for each operation', () => {
    const all = operations();
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
    const wrong = all.filter(({ operation: { summary, tags = [], responses = {} } }) => {
      const answers = Object.entries(responses);
      const described = answers.every(([, answer]) => (answer.description ?? '') !== '');
      return !summary || tags.length !== 1 || !described || !answers.some(([status]) => /^20/.test(status));
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('lists parameters once, each with a schema', () => {
    const wrong = operations().filter(({ operation: { parameters = [] } }) => {
      const names = parameters.map((one) => `${one.in} ${one.name}`);
      return new Set(names).size !== names.length || parameters.some((one) => one.schema === undefined);
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('describes for each POST with a key the effect of an Idempotency-Key, also after a restart', () => {
    const posts = operations().filter(
      ({ name, operation }) =>
        name.startsWith('post ') && (operation.security ?? []).length > 0 && name !== 'post /v1/session',
    );
    expect(posts.length).toBeGreaterThan(30);
    const headerOf = ({ parameters = [] }: Operation) =>
      parameters.find((one) => one.in === 'header' && one.name === 'idempotency-key');
    expect(posts.filter(({ operation }) => !headerOf(operation)).map(({ name }) => name)).toEqual([]);
    const told = (path: string) => JSON.stringify(headerOf(document.paths?.[path]?.post ?? {}));
    expect(told('/v1/admin/ports/{id}/status')).toContain('carried out once, too');
    expect(told('/v1/pathway/chat/create')).toContain('outcome: unknown');
  });

  it('uses JSON Schema 2020-12 only', () => {
    const bodies = media().flatMap(({ name, schema }) => schemaProblems(schema, name));
    const parameters = operations().flatMap(({ name, operation: { parameters = [] } }) =>
      parameters.flatMap((one) => schemaProblems(one.schema, `${name} ${one.name}`)),
    );
    expect([...bodies, ...parameters]).toEqual([]);
    expect(schemaProblems({ anyOf: [{ type: 'text', nullable: true }] }, '')).toHaveLength(2);
  });

  it('has an example of every body, and each passes its schema', () => {
    const isFile = (schema: unknown) => JSON.stringify(schema) === '{"type":"string"}';
    const wrong = media().flatMap(({ name, schema, examples = {} }) => {
      if (isFile(schema)) return [];
      const values = Object.values(examples).map(({ value }) => value);
      if (values.length === 0) return [`${name}: no example`];
      const check = Compile(schema as object);
      return values
        .filter((value) => !check.Check(value))
        .map((value) => `${name}: ${JSON.stringify(check.Errors(value))} ${JSON.stringify(value)}`);
    });
    expect(wrong).toEqual([]);
  });

  it('gives the content type of each response that is not JSON, and JSON for all its errors', async () => {
    const all = operations().filter(({ name }) => name.startsWith('get '));
    const untyped = all.filter(({ operation }) => !operation.responses?.['200']?.content);
    expect(untyped.map(({ name }) => name)).toEqual([]);
    const files = all.filter(
      ({ operation }) => !('application/json' in (operation.responses?.['200']?.content ?? {})),
    );
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/v1/sip/calls/{call_id}/trace.pcap', '/v1/sip/port/{id}/letter', '/metrics']),
    );
    for (const { name, path, operation } of files) {
      const refusals = Object.entries(operation.responses ?? {}).filter(([status]) => status >= '4');
      for (const [status, { content = {} }] of refusals) {
        expect([name, status, Object.keys(content)]).toEqual([name, status, ['application/json']]);
      }
      // Its answer does not end.
      if (path === '/v1/events') continue;
      const url = path.replaceAll(/\{[^}]*\}/g, '00000000-0000-4000-8000-00000000dead');
      const key = path.startsWith('/v1/admin/') || path === '/metrics' ? test.operatorKey : test.key;
      const answer = await test.call('GET', url, { key });
      if (answer.status === 200) {
        const [type = ''] = String(answer.headers['content-type']).split(';');
        expect([path, Object.keys(operation.responses?.['200']?.content ?? {})]).toEqual([path, [type]]);
      } else {
        expect([path, answer.headers['content-type']]).toEqual([path, 'application/json; charset=utf-8']);
        expect(Object.keys(operation.responses ?? {})).toContain(String(answer.status));
      }
    }
  });

  it('returns each code with the status in docs/errors.md, or declares another one', () => {
    const lines = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').split('\n');
    const lineOf = (code: string) => lines.find((line) => line.startsWith(`| \`${code}\` |`)) ?? '';
    const unnamed = operations().flatMap(({ name, operation }) =>
      Object.entries(operation.responses ?? {})
        .filter(([status]) => status >= '4')
        .flatMap(([status, { content = {} }]) =>
          Object.keys(Object.values(content)[0]?.examples ?? {})
            .filter((code) => code in apiErrors && !lineOf(code).includes(status))
            .map((code) => `${name}: ${code} ${status}`),
        ),
    );
    expect(unnamed).toEqual([]);
  });

  it('shows for each code of a status the body that the group returns', () => {
    const { paths = {} } = document;
    const body = (path: string, method: string, status: string, code: string) =>
      Object.values(paths[path]?.[method]?.responses?.[status]?.content ?? {})[0]?.examples?.[code]?.value;
    expect(body('/v1/sip/detach', 'post', '404', 'NUMBER_NOT_FOUND')).toMatchObject({
      data: null,
      errors: [{ code: 'NUMBER_NOT_FOUND' }],
    });
    expect(body('/v1/pathway', 'get', '401', 'AUTH_FAILURE')).toMatchObject({
      status: 'error',
      message: 'Unauthorized',
      data: null,
    });
  });
});

describe('exampleOf', () => {
  it.each([
    [{ type: 'string', minLength: 8 }, 'textxxxx'],
    [{ type: 'string', maxLength: 2 }, 'te'],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'integer', minimum: -5, maximum: 0 }, 0],
    [{ anyOf: [{ type: 'null' }, { type: 'boolean' }] }, true],
    [{ type: 'array', items: { enum: ['a'] }, minItems: 2 }, ['a', 'a']],
    [{ type: 'string', examples: ['shown'] }, 'shown'],
  ])('uses the value of %j', (schema, value) => {
    expect(exampleOf(schema, 'all')).toEqual(value);
  });

  it('has required members for requests and all for responses', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { const: 1 }, b: { const: 2 } },
    };
    expect(exampleOf(schema, 'required')).toEqual({ a: 1 });
    expect(exampleOf(schema, 'all')).toEqual({ a: 1, b: 2 });
  });
});
