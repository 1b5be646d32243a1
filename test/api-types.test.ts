/** The types of the SDK and the console are those of the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiTypes, generatedFile } from '../scripts/api-types.ts';
import { startRoutes, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';

let test: TestControl;
beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());

it('clients/typescript/src/generated.ts is up to date; node scripts/api-types.ts writes it', async () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(apiTypes(await openApiOf(test)));
});
