/** The errors of a route as OpenAPI responses: built from the route's codes (contract 1.3). */
import { type ApiErrorCode, apiErrors, errorItem } from '#shared/errors.ts';
import { type Access, errorBody, type Group, groupOf } from '../http/index.ts';

/** The parts of a route that decide which codes it may return. */
export interface DescribedRoute {
  readonly url: string;
  readonly method: string | readonly string[];
  readonly access: Access;
  /** Whether a session is not enough. */
  readonly keyItself: boolean;
  readonly hasBody: boolean;
  readonly hasQuery: boolean;
  /** Codes of its own. */
  readonly errors: readonly ApiErrorCode[];
  /** Codes with a different status than elsewhere. */
  readonly statuses: Readonly<Partial<Record<ApiErrorCode, number>>>;
}

const ofKeys: readonly ApiErrorCode[] = ['AUTH_FAILURE', 'RATE_LIMITED'];
const ofBodies: readonly ApiErrorCode[] = [
  'INVALID_PARAMETER',
  'UNKNOWN_PROPERTY',
  'INVALID_JSON',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];

function codesOf(route: DescribedRoute): ReadonlySet<ApiErrorCode> {
  const needsKey = route.access !== 'public' && route.access !== 'edge';
  const methods = [route.method].flat();
  const isPost = methods.includes('POST');
  const changes = !methods.includes('GET');
  // Its body must be empty, and is read to check that.
  const isDelete = methods.includes('DELETE');
  return new Set<ApiErrorCode>([
    ...(needsKey ? ofKeys : []),
    ...(route.hasBody || isDelete ? ofBodies : []),
    ...(needsKey && methods.includes('GET') ? (['ANSWER_TOO_LARGE'] as const) : []),
    ...(route.hasQuery ? (['INVALID_PARAMETER'] as const) : []),
    // Ids in its paths are checked by their form (contract 7).
    ...(groupOf(route.url) === 'widget' && route.url.includes(':id') ? (['INVALID_PARAMETER'] as const) : []),
    ...(needsKey && isPost && !route.keyItself
      ? (['INVALID_PARAMETER', 'IDEMPOTENCY_CONFLICT'] as const)
      : []),
    ...(needsKey && changes && !route.keyItself ? (['CSRF_TOKEN_INVALID'] as const) : []),
    ...(route.access === 'member' || route.access === 'admin' ? (['ROLE_TOO_LOW'] as const) : []),
    ...(needsKey && route.url.startsWith('/v1/sip') ? (['SIP_NOT_ENABLED'] as const) : []),
    ...(route.access === 'operator' ? (['OPERATOR_KEY_REQUIRED'] as const) : []),
    ...route.errors,
    'INTERNAL_ERROR',
  ]);
}

/** One response per status, with an example body for each of its codes. */
export function errorAnswers(route: DescribedRoute): Record<string, object> {
  const group = groupOf(route.url);
  const byStatus = Map.groupBy(codesOf(route), (code) => route.statuses[code] ?? apiErrors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), errorAnswer(group, status, codes)]),
  );
}

function errorAnswer(group: Group, status: number, codes: readonly ApiErrorCode[]): object {
  const code = {
    type: 'string',
    enum: [...codes],
    description: 'What went wrong; docs/errors.md says what to do',
  };
  const item = {
    type: 'object',
    required: ['error', 'code', 'message'],
    properties: {
      error: code,
      code: { ...code, description: 'The same as `error`' },
      message: { type: 'string', description: 'The error in a sentence, for people' },
      details: { type: 'object', description: 'Where it is, which limit it was, and the like, by the code' },
    },
  };
  const examples = codes.map((one) => [one, { value: errorBody(group, status, [exampleItem(one)]) }]);
  const properties = {
    ...envelope(group, status),
    errors: {
      type: 'array',
      minItems: 1,
      items: item,
      description: 'What went wrong, the first decides the status',
    },
  };
  return {
    'x-response-description': codes.join(', '),
    'x-examples': Object.fromEntries(examples),
    type: 'object',
    required: Object.keys(properties),
    properties,
  };
}

/** The wrapper around the errors. */
function envelope(group: Group, status: number): Record<string, object> {
  const none = { type: 'null', description: 'Always null: the request failed' };
  const failed = { const: 'error', description: 'Always error' };
  switch (group) {
    case 'plain':
    case 'testing':
      return { data: none };
    case 'tools':
      return { status: failed, data: none };
    case 'widget':
      return { status: { const: status, description: 'The HTTP status' }, data: none };
    case 'flat':
      return {
        status: failed,
        message: { type: 'string', description: 'That of the first error' },
        ...(status === 401 && { data: none }),
      };
  }
}

function exampleItem(code: ApiErrorCode) {
  switch (code) {
    case 'INVALID_PARAMETER':
      return errorItem(code, { path: '/name', rule: 'required' }, '/name: required');
    case 'UNKNOWN_PROPERTY':
      return errorItem(code, { path: '/nmae' }, '/nmae: not a known property');
    case 'RATE_LIMITED':
      return errorItem(code, { limit: 600, window_seconds: 60, scope: 'key' });
    default:
      return errorItem(code);
  }
}
