/** The answers that pages show below requests have only fields that the API answers with. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OpenApiDocument } from '../control/deployment/openapi-document.ts';
import { startRoutes, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';

const folder = join(import.meta.dirname, '..', 'docs');

interface ShownAnswer {
  readonly place: string;
  readonly method: string;
  readonly path: string;
  readonly answer: unknown;
}

/** With what the page leaves out: `…` for members and elements. */
function readAnswer(text: string): unknown {
  const whole = text.replaceAll(/([{[])…([\]}])/g, '$1$2').replaceAll(/, *…(?=[\]}])/g, '');
  try {
    return JSON.parse(whole);
  } catch {
    return undefined;
  }
}

/** Answers on one line, below the lines of a request that is not piped on. */
function shownIn(page: string): ShownAnswer[] {
  const text = readFileSync(join(folder, page), 'utf8');
  const forms = /^[ $]*curl (?:[^\n]*\\\n)*[^\n|]*(?:'\{\n[^|]*?\}')?(?:\n{1,2})( *\{.*\})$/gm;
  return [...text.matchAll(forms)].flatMap(([whole, shown = '']) => {
    const request = whole.slice(0, -shown.length);
    const path = /(?:\$URL|(?:localhost|127\.0\.0\.1):8080)(\/v\d[^\s"'?]*)/.exec(request)?.[1];
    const answer = readAnswer(shown);
    if (path === undefined || answer === undefined) return [];
    const hasBody = /\s-(?:d|F)\s/.test(request);
    const method = /-X (\w+)/.exec(request)?.[1] ?? (hasBody ? 'POST' : 'GET');
    return [{ place: `${page}: ${method} ${path}`, method, path, answer }];
  });
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Members that the schema does not have. A choice of several forms has all of theirs. */
function unknownMembers(value: unknown, schemas: readonly unknown[], path = ''): string[] {
  const forms = schemas.filter(isFields).flatMap((schema): unknown[] => {
    const { anyOf, oneOf, allOf } = schema;
    const choices = [anyOf, oneOf, allOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
    return choices.length > 0 ? choices : [schema];
  });
  if (Array.isArray(value)) {
    const items = forms.flatMap((form) => (isFields(form) ? [form.items] : []));
    return value.flatMap((one) => unknownMembers(one, items, `${path}[]`));
  }
  const described = forms.filter(isFields).filter(({ properties }) => isFields(properties));
  const isOpen = forms
    .filter(isFields)
    .some((form) => form.additionalProperties !== undefined && form.additionalProperties !== false);
  if (!isFields(value) || described.length === 0) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const own = described.flatMap(({ properties }) =>
      isFields(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
    );
    if (own.length === 0) return isOpen ? [] : [`${path}/${name}`];
    return unknownMembers(member, own, `${path}/${name}`);
  });
}

let test: TestControl;
let document: OpenApiDocument;
beforeAll(async () => {
  test = await startRoutes();
  document = await openApiOf(test);
});
afterAll(() => test.close());

/** The schemas of the successful answers of an operation. */
function schemasOf({ method, path }: ShownAnswer): unknown[] {
  const segments = path.split('/');
  const [, operations] =
    Object.entries(document.paths ?? {}).find(([known, all]) => {
      const own = known.split('/');
      const isSame = (one: string, at: number) =>
        one === segments[at] || one.startsWith('{') || /^[<$]/.test(segments[at] ?? '');
      return own.length === segments.length && own.every(isSame) && method.toLowerCase() in all;
    }) ?? [];
  return Object.entries(operations?.[method.toLowerCase()]?.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.values(response.content ?? {}).map(({ schema }) => schema));
}

it('are those of the operation', () => {
  const shown = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .flatMap(shownIn)
    .filter(({ answer }) => isFields(answer) && (answer.errors === undefined || answer.errors === null));
  expect(shown.length).toBeGreaterThan(12);
  const wrong = shown.flatMap((one) => {
    const schemas = schemasOf(one);
    if (schemas.length === 0) return [`${one.place}: no such operation`];
    return unknownMembers(one.answer, schemas).map((member) => `${one.place}: ${member}`);
  });
  expect(wrong).toEqual([]);
});
