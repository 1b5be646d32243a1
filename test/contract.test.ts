/** The served OpenAPI document against the contract's table of endpoints. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiErrors, isApiErrorCode } from '#shared/errors.ts';
import type { OpenApiDocument, Operation } from '../control/deployment/openapi-document.ts';
import { endpoints, everywhere, ofNumbers } from './contract/table.ts';
import { startControl, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';

let control: TestControl;
let served: ReadonlyMap<string, Operation>;
beforeAll(async () => {
  control = await startControl();
  served = operationsOf(await openApiOf(control));
});
afterAll(() => control.close());

/** By method and path; parameters by position, as their names do not matter to a client. */
function operationsOf({ paths = {} }: OpenApiDocument): Map<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [nameOf(method, path), operation]),
    ),
  );
}

function nameOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;
}

/** The codes that an operation documents for a status. */
function codesOf(operation: Operation | undefined, status: number | string): string[] {
  const media = Object.values(operation?.responses?.[status]?.content ?? {})[0];
  return Object.keys(media?.examples ?? {});
}

describe('the served interface', () => {
  it.each(endpoints)('has %s %s with its statuses and codes', (method, path, success, errors) => {
    const operation = served.get(nameOf(method, path));
    expect(operation?.summary, 'has a summary').toEqual(expect.stringMatching(/./));
    const statuses = Object.keys(operation?.responses ?? {}).map(Number);
    expect(statuses).toEqual(expect.arrayContaining([...success]));
    for (const [status, codes] of Object.entries(errors)) {
      expect(codesOf(operation, status)).toEqual(expect.arrayContaining([...codes]));
    }
  });

  it('documents that every /v1/sip endpoint with a key needs the SIP permission', () => {
    const without = [...served]
      .filter(([name, { security = [] }]) => / \/v1\/sip(\/|$)/.test(name) && security.length > 0)
      .filter(([, operation]) => !codesOf(operation, 403).includes('SIP_NOT_ENABLED'));
    expect(without.map(([name]) => name)).toEqual([]);
  });
});

describe('the list of errors', () => {
  const named = endpoints.flatMap(([, , , errors]) =>
    Object.entries(errors).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)] as const)),
  );
  /** If a code has two statuses, the table of the endpoint decides. */
  const twofold = new Set(['INTEGRATION_NOT_FOUND', 'REGISTRAR_REQUIRED']);

  it.each([...new Map([...Object.entries(everywhere), ...named])])('knows %s as %i', (code, status) => {
    expect(isApiErrorCode(code)).toBe(true);
    if (isApiErrorCode(code) && !twofold.has(code)) expect(apiErrors[code].status).toBe(status);
  });

  it.each([...ofNumbers])('knows %s, which is given for single numbers', (code) => {
    expect(isApiErrorCode(code)).toBe(true);
  });
});
