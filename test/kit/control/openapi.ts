/** The OpenAPI document of a control plane, for tests. */
import { Type } from 'typebox';
import type { OpenApiDocument } from '../../../control/deployment/openapi-document.ts';
import type { TestControl } from './harness.ts';

const Text = Type.String();
/** Only its outline: openapi.test.ts validates the document against the standard. */
const Document = Type.Unsafe<OpenApiDocument>(
  Type.Object({
    openapi: Text,
    info: Type.Object({ title: Text }),
    paths: Type.Record(Text, Type.Record(Text, Type.Object({ responses: Type.Object({}) }))),
  }),
);

/** As it serves it without a key; for tests of the document. */
export async function ownOpenApiOf(test: Pick<TestControl, 'call'>): Promise<OpenApiDocument> {
  return (await test.call('GET', '/openapi.json', { key: null })).read(Document);
}

let first: Promise<OpenApiDocument> | undefined;

/**
 * That of the first control plane of this process, which nobody can change. Every other's is the same (openapi.test.ts),
 * and to make and read its megabytes takes longer than most tests that look at all routes.
 */
export function openApiOf(test: Pick<TestControl, 'call'>): Promise<OpenApiDocument> {
  first ??= ownOpenApiOf(test).then(frozen);
  return first;
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
