/** Every endpoint of the HTTP contract (docs/contract). contract.test.ts compares the served OpenAPI document with it. */
import { agents } from './agents.ts';
import type { Endpoint } from './endpoint.ts';
import { sip } from './sip.ts';
import { testing } from './testing.ts';

/** The organization and the deployment (section 14), and phone sessions (section 18). */
const deployment: readonly Endpoint[] = [
  ['GET', '/v1/org/settings', [200], {}],
  ['PATCH', '/v1/org/settings', [200], { 400: ['TARGET_NOT_ALLOWED'] }],
  ['POST', '/v1/org/webhook-secret', [200], {}],
  ['GET', '/v1/org/keys', [200], {}],
  ['GET', '/v1/org/keys/{id}', [200], { 404: ['KEY_NOT_FOUND'] }],
  ['POST', '/v1/org/keys', [200], { 409: ['QUOTA_EXCEEDED'] }],
  [
    'POST',
    '/v1/org/keys/{id}/rotate',
    [200],
    { 404: ['KEY_NOT_FOUND'], 409: ['KEY_NOT_ACTIVE', 'QUOTA_EXCEEDED'] },
  ],
  [
    'DELETE',
    '/v1/org/keys/{id}',
    [200],
    { 404: ['KEY_NOT_FOUND'], 409: ['KEY_NOT_ACTIVE', 'LAST_ADMIN_KEY'] },
  ],
  ['GET', '/v1/org/webhook-deliveries', [200], { 400: ['INVALID_CURSOR'] }],
  ['GET', '/v1/org/webhook-deliveries/{id}', [200], { 404: ['DELIVERY_NOT_FOUND'] }],
  [
    'POST',
    '/v1/org/webhook-deliveries/{id}/redeliver',
    [200],
    { 404: ['DELIVERY_NOT_FOUND'], 409: ['DELIVERY_WAITING'] },
  ],
  ['POST', '/v1/session', [200], {}],
  ['GET', '/v1/session', [200], {}],
  ['DELETE', '/v1/session', [200], { 404: ['SESSION_NOT_FOUND'] }],
  ['GET', '/v1/sessions', [200], {}],
  ['GET', '/v1/phone-sessions', [200], {}],
  ['GET', '/v1/phone-sessions/{id}', [200], { 404: ['PHONE_SESSION_NOT_FOUND'] }],
  [
    'POST',
    '/v1/phone-sessions',
    [200],
    { 404: ['NUMBER_NOT_FOUND'], 409: ['QUOTA_EXCEEDED'], 503: ['SERVICE_UNAVAILABLE'] },
  ],
  [
    'DELETE',
    '/v1/phone-sessions/{id}',
    [200],
    { 404: ['PHONE_SESSION_NOT_FOUND'], 409: ['PHONE_SESSION_ENDED'] },
  ],
  ['DELETE', '/v1/sessions/{id}', [200], { 404: ['SESSION_NOT_FOUND'] }],
  ['GET', '/health', [200, 503], {}],
  ['GET', '/health/live', [200], {}],
  ['GET', '/health/ready', [200, 503], {}],
  ['GET', '/metrics', [200], { 403: ['OPERATOR_KEY_REQUIRED'] }],
  ['GET', '/openapi.json', [200], {}],
  ['GET', '/docs', [200], {}],
];

export const endpoints: readonly Endpoint[] = [...sip, ...testing, ...agents, ...deployment];

/** Codes that every endpoint may answer with (its section 1.3). */
export const everywhere: Readonly<Record<string, number>> = {
  INVALID_PARAMETER: 400,
  UNKNOWN_PROPERTY: 400,
  INVALID_JSON: 400,
  AUTH_FAILURE: 401,
  ROLE_TOO_LOW: 403,
  CSRF_TOKEN_INVALID: 403,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
};

/** Codes for single numbers of a request, inside a successful response (its section 2.3). */
export const ofNumbers: readonly string[] = [
  'INVALID_PHONE_NUMBER',
  'NUMBER_IN_USE',
  'SIP_CONFIG_LIMIT',
  'REGISTRAR_REQUIRED',
];
