/** Validates the credentials of a resource (contract 8.3). Pure. */

import type { BlockList } from 'node:net';
import { isObject } from '#shared/agent/graph-problem.ts';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { secretMask } from '../http/index.ts';
import type { Credentials, Integration } from './integrations/integration.ts';
import { checkHeaders } from './rest-rules.ts';
import { pointerPart } from './template.ts';

const mostCharacters = 10_000;
const urlPath = '/credentials/base_url';

/** @throws ApiError INVALID_PARAMETER, UNKNOWN_PROPERTY, TARGET_NOT_ALLOWED */
export function checkCredentials(
  { key, credentials: fields }: Integration,
  credentials: Credentials,
  allowedTargets: BlockList,
): void {
  if (!fields) throw ApiError.invalid('/credentials', `${key} needs no resource`);
  const { texts, baseUrl, headers } = fields;
  const known = ['base_url', ...texts, ...(headers ? ['headers'] : [])];
  const unknown = Object.keys(credentials)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const path = `/credentials/${pointerPart(name)}`;
      return errorItem('UNKNOWN_PROPERTY', { path }, `${path}: not a known property`);
    });
  refuseMasks(credentials, '/credentials');
  const needsUrl = baseUrl === 'required' || credentials.base_url !== undefined;
  const url = readBaseUrl(credentials.base_url);
  const [first, ...others] = [
    ...unknown,
    ...texts.flatMap((name) => textProblem(`/credentials/${name}`, credentials[name])),
    ...(needsUrl && !url
      ? [invalid(urlPath, 'required, an http or https URL without user information and query')]
      : []),
  ];
  if (first) throw ApiError.many([first, ...others]);
  if (credentials.headers !== undefined) checkHeaders(credentials.headers, '/credentials/headers');
  if (url) checkTarget(url, allowedTargets);
}

function invalid(path: string, rule: string): ErrorItem {
  return errorItem('INVALID_PARAMETER', { path, rule }, `${path}: ${rule}`);
}

function textProblem(path: string, value: unknown): ErrorItem[] {
  const fits = typeof value === 'string' && value.length > 0 && value.length <= mostCharacters;
  if (!fits) return [invalid(path, `required, a text of 1 to ${mostCharacters}`)];
  // Sent in a header, which allows visible characters only (RFC 9110 section 5.5).
  if (/^[\x21-\x7e]+$/.test(value)) return [];
  return [invalid(path, 'must be ASCII without blanks')];
}

/** The mask means "as stored" (contract 1.7), and a new resource has nothing stored. */
function refuseMasks(values: Readonly<Record<string, unknown>>, path: string): void {
  for (const [name, value] of Object.entries(values)) {
    const at = `${path}/${pointerPart(name)}`;
    if (value === secretMask) throw ApiError.invalid(at, 'keeps a stored value, but none is stored yet');
    if (isObject(value)) refuseMasks(value, at);
  }
}

function readBaseUrl(value: unknown): URL | null {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isHttp && isPlain ? url : null;
}

function checkTarget(url: URL, allowedTargets: BlockList): void {
  requireAllowedHost(url.hostname, urlPath, allowedTargets);
}
