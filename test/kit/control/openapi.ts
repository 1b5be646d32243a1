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

/** As served without a key. */
export async function openApiOf(test: Pick<TestControl, 'call'>): Promise<OpenApiDocument> {
  return (await test.call('GET', '/openapi.json', { key: null })).read(Document);
}
