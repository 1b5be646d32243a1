/** What the credentials of a resource must be (contract 8.3). Pure. */
import type { BlockList } from 'node:net';
import { isObject } from '#shared/agent/graph-problem.ts';
import { ApiError } from '#shared/errors.ts';
import { judgeHost } from '#shared/outgoing-targets.ts';
import { secretMask } from '../sip/rules.ts';
import type { Credentials, Integration } from './integrations/integration.ts';
import { checkHeaders } from './rest-rules.ts';
import { pointerPart } from './template.ts';

const mostCharacters = 10_000;

/** @throws ApiError INVALID_PARAMETER, UNKNOWN_PROPERTY, TARGET_NOT_ALLOWED */
export function checkCredentials(
  { key, credentials: fields }: Integration,
  credentials: Credentials,
  allowedTargets: BlockList,
): void {
  if (!fields) throw ApiError.invalid('/credentials', `${key} needs no resource`);
  const { texts, baseUrl, headers } = fields;
  const known = ['base_url', ...texts, ...(headers ? ['headers'] : [])];
  for (const name of Object.keys(credentials)) {
    if (known.includes(name)) continue;
    const path = `/credentials/${pointerPart(name)}`;
    throw ApiError.of('UNKNOWN_PROPERTY', { path }, `${path}: not a known property`);
  }
  refuseMasks(credentials, '/credentials');
  for (const name of texts) {
    const value = credentials[name];
    const fits = typeof value === 'string' && value.length > 0 && value.length <= mostCharacters;
    if (!fits) throw ApiError.invalid(`/credentials/${name}`, `required, a text of 1 to ${mostCharacters}`);
    // Goes into a header, which takes visible characters only (RFC 9110 section 5.5).
    if (!/^[\x21-\x7e]+$/.test(value)) {
      throw ApiError.invalid(`/credentials/${name}`, 'must not hold blanks or other than ASCII characters');
    }
  }
  if (credentials.headers !== undefined) checkHeaders(credentials.headers, '/credentials/headers');
  if (baseUrl === 'required' || credentials.base_url !== undefined) {
    checkBaseUrl(credentials.base_url, allowedTargets);
  }
}

/** The mask means "as stored" (contract 1.7), and of a new resource nothing is stored. */
function refuseMasks(values: Readonly<Record<string, unknown>>, path: string): void {
  for (const [name, value] of Object.entries(values)) {
    const at = `${path}/${pointerPart(name)}`;
    if (value === secretMask) throw ApiError.invalid(at, 'keeps a stored value, but none is stored yet');
    if (isObject(value)) refuseMasks(value, at);
  }
}

function checkBaseUrl(value: unknown, allowedTargets: BlockList): void {
  const path = '/credentials/base_url';
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isHttp || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw ApiError.invalid(path, 'required, an http or https URL without user information and query');
  }
  const verdict = judgeHost(url.hostname, allowedTargets);
  if (!verdict.allowed) {
    throw ApiError.of('TARGET_NOT_ALLOWED', { path, address: url.hostname }, verdict.reason);
  }
}
