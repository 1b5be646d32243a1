/** The console's types of the API are those of the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { consoleTypes, generatedFile } from '../scripts/console-types.ts';
import { startRoutes, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';

let test: TestControl;
beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());

it('console/api/generated.ts is up to date; node scripts/console-types.ts writes it', async () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(consoleTypes(await openApiOf(test)));
});

it('an operation that the API does not have is named', () => {
  expect(() => consoleTypes({ openapi: '3.1.0', info: { title: '' } })).toThrow(
    'the API has no GET /v1/session',
  );
});
