/** The types of the SDK and the console are those of the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiFiles } from '../scripts/api-types.ts';
import { startRoutes, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';

let test: TestControl;
beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());

it('clients/typescript/src/generated*.ts are up to date; node scripts/api-types.ts writes them', async () => {
  const files = Object.entries(apiFiles(await openApiOf(test)));
  expect(files.length).toBe(2);
  for (const [file, text] of files) expect(readFileSync(file, 'utf8')).toBe(text);
});
