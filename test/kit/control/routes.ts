/** Every route of a control plane, for tests that apply to all. */
import type { Role } from '#shared/api/keys.ts';
import type { Operation } from '../../../control/deployment/openapi-document.ts';
import type { TestControl } from './harness.ts';
import { openApiOf } from './openapi.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ServedRoute {
  /** Such as `GET /v1/calls/{call_id}`. */
  readonly name: string;
  readonly method: Method;
  /** With parameter values that name nothing. */
  readonly url: string;
  /** All methods of this URL, also by other paths. */
  readonly methods: readonly string[];
  /** `any`: customers and operators. */
  readonly access: 'public' | 'customer' | 'operator' | 'any';
  /** The least role that it states; null: none, any key or no key will do. */
  readonly leastRole: Role | null;
  /** Whether the cookie of a session is enough. */
  readonly takesSession: boolean;
  /** Schema of the body. */
  readonly body: object | undefined;
  readonly contentType: string | undefined;
  /** Whether the response to a valid request for `url` ends: a stream about an id answers 404. */
  readonly hasEnd: boolean;
  /** A body that matches the schema. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly queryNames: readonly string[];
  /** Of its responses. */
  readonly statuses: readonly string[];
  /** Error codes by status. */
  readonly codes: Readonly<Record<string, readonly string[]>>;
}

/** Has the form of every id, and does not exist. */
export const unknownId = '00000000-0000-4000-8000-00000000dead';

export async function servedRoutes(test: TestControl): Promise<ServedRoute[]> {
  const { paths = {} } = await openApiOf(test);
  const forms = Object.entries(paths).map(([path, methods]) => ({
    form: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]*\}/g, '[^/]+')}$`),
    methods: Object.keys(methods).map((method) => method.toUpperCase()),
  }));
  return Object.entries(paths).flatMap(([path, operations]) => {
    const url = path.replaceAll(/\{[^}]*\}/g, unknownId);
    const methods = forms.filter(({ form }) => form.test(url)).flatMap((one) => one.methods);
    return Object.entries(operations).map(([method, operation]) =>
      routeOf(path, url, methods, method.toUpperCase() as Method, operation),
    );
  });
}

function routeOf(
  path: string,
  url: string,
  methods: readonly string[],
  method: Method,
  operation: Operation,
): ServedRoute {
  const [content] = Object.entries(operation.requestBody?.content ?? {});
  const [contentType, media] = content ?? [];
  const isStream = 'text/event-stream' in (operation.responses?.['200']?.content ?? {});
  const example = Object.values(media?.examples ?? {})[0]?.value ?? {};
  const leastRole = operation['x-least-role'] ?? null;
  const ofRole = leastRole === 'operator' ? 'operator' : leastRole === null ? 'any' : 'customer';
  const security = operation.security ?? [];
  return {
    name: `${method} ${path}`,
    method,
    url,
    methods,
    access: security.length === 0 ? 'public' : ofRole,
    leastRole,
    takesSession: security.some((one) => 'session' in one),
    body: media?.schema as object | undefined,
    contentType,
    hasEnd: url.includes(unknownId) || !isStream,
    example: example as Record<string, unknown>,
    statuses: Object.keys(operation.responses ?? {}),
    codes: Object.fromEntries(
      Object.entries(operation.responses ?? {}).map(([status, { content }]) => [
        status,
        Object.keys(Object.values(content ?? {})[0]?.examples ?? {}),
      ]),
    ),
    queryNames: (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name),
  };
}
