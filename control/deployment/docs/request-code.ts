/** A request in the forms in which people write it. */
import type { Operation } from '../openapi-document.ts';
import { exampleOf } from '../openapi-examples.ts';
import { requestQueries } from '../request-examples.ts';
import type { Described } from './groups.ts';

export interface BodyExample {
  readonly type: string;
  readonly value: unknown;
}

export function bodyExample({ requestBody }: Operation): BodyExample | null {
  const [entry] = Object.entries(requestBody?.content ?? {});
  if (!entry) return null;
  const [type, { examples = {}, schema }] = entry;
  return { type, value: Object.values(examples)[0]?.value ?? exampleOf(schema, 'required') };
}

/** Values in place of parameters that a request must have. */
function requiredParameters(
  { method, path, operation }: Described,
  where: 'path' | 'query',
): [string, string][] {
  const written = where === 'query' && requestQueries[`${method} ${path}`];
  if (written) return Object.entries(written);
  return (operation.parameters ?? [])
    .filter((one) => one.in === where && one.required === true)
    .map((one) => [one.name, parameterExample(one.name, one.schema)]);
}

/** Ids are named after their parameter, because no example of one exists in every deployment. */
function parameterExample(name: string, schema: unknown): string {
  if (name === 'phone_number') return '+14155550100';
  const value = exampleOf(schema, 'required');
  const isId = name === 'id' || name.endsWith('_id') || name === 'token';
  return isId || typeof value === 'object' || value === 'text' ? `<${name}>` : String(value);
}

/** The path with values in place of its parameters. */
function filledPath(described: Described): string {
  const values = new Map(requiredParameters(described, 'path'));
  return described.path.replaceAll(/\{([^}]*)\}/g, (_, name: string) => values.get(name) ?? `<${name}>`);
}

export function needsKey({ operation }: Described): boolean {
  return (operation.security ?? []).length > 0;
}

/** With the variables `TRUNKLINE_URL` and `TRUNKLINE_KEY`, as in all guides. */
export function curlOf(described: Described): string {
  const { method, operation } = described;
  const query = requiredParameters(described, 'query')
    .map(([name, value]) => `${name}=${value.startsWith('<') ? value : encodeURIComponent(value)}`)
    .join('&');
  const lines = [
    `curl -s${method === 'GET' || (method === 'POST' && operation.requestBody) ? '' : ` -X ${method}`} "$TRUNKLINE_URL${filledPath(described)}${query && `?${query}`}"`,
  ];
  if (needsKey(described)) lines.push('-H "authorization: Bearer $TRUNKLINE_KEY"');
  const body = bodyExample(operation);
  if (body?.type === 'multipart/form-data') lines.push('-F file=@document.pdf');
  else if (body) {
    lines.push(`-H 'content-type: ${body.type}'`, `-d '${jsonText(body.value).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n  ');
}

/** With the client of `clients/typescript`; null: the endpoint is not for callers with a key. */
export function clientCodeOf(described: Described): string | null {
  const { method, path, operation } = described;
  if (!needsKey(described) || !path.startsWith('/v') || path.startsWith('/v1/admin')) return null;
  const parts: Record<string, unknown> = {};
  const inPath = requiredParameters(described, 'path');
  const inQuery = requiredParameters(described, 'query');
  const body = bodyExample(operation);
  if (body?.type === 'multipart/form-data') return null;
  if (inPath.length > 0) parts.path = Object.fromEntries(inPath);
  if (inQuery.length > 0) parts.query = Object.fromEntries(inQuery);
  if (body && !isEmpty(body.value)) parts.body = body.value;
  return `import { Trunkline } from '@trunkline/client';

const client = new Trunkline({ baseUrl: process.env.TRUNKLINE_URL, apiKey: process.env.TRUNKLINE_KEY });
const answer = await client.request('${method} ${path}', ${literal(parts)});`;
}

/** What the types of the client leave out. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replaceAll(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\'\n])*)"/g, "'$1'");
}

export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}
