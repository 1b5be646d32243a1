/** The request described by the body of a `rest_api` tool (contract 8.3). Pure. */
import { isObject } from '#shared/agent/graph-problem.ts';
import { ApiError } from '#shared/errors.ts';
import { pointerPart } from './template.ts';
import { readUrlTemplate, type UrlTemplate } from './url-template.ts';

const members = ['url', 'method', 'headers', 'query', 'body'];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** RFC 9110 section 5.6.2 */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Headers for routing and framing, which the sender sets itself (RFC 9110, 9112). */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Validates the body and returns its URL. @throws ApiError INVALID_PARAMETER, UNKNOWN_PROPERTY */
export function checkRequestTemplate(body: Readonly<Record<string, unknown>>): UrlTemplate {
  for (const name of Object.keys(body)) {
    if (members.includes(name)) continue;
    const path = `/body/${pointerPart(name)}`;
    throw ApiError.of('UNKNOWN_PROPERTY', { path }, `${path}: not a known property`);
  }
  const { url, method, headers, query } = body;
  if (typeof url !== 'string') throw ApiError.invalid('/body/url', 'required, a text');
  if (method !== undefined && !methods.includes(String(method))) {
    throw ApiError.invalid('/body/method', `must be one of ${methods.join(', ')}`);
  }
  if (headers !== undefined) checkHeaders(headers, '/body/headers');
  if (query !== undefined && !isObject(query)) throw ApiError.invalid('/body/query', 'must be an object');
  const template = readUrlTemplate(url);
  if ('problem' in template) throw ApiError.invalid('/body/url', template.problem);
  return template;
}

/** @throws ApiError INVALID_PARAMETER */
export function checkHeaders(headers: unknown, path: string): void {
  if (!isObject(headers)) throw ApiError.invalid(path, 'must be an object of texts');
  for (const [name, value] of Object.entries(headers)) {
    const at = `${path}/${pointerPart(name)}`;
    if (!headerName.test(name)) throw ApiError.invalid(at, 'is not the name of a header');
    if (ownHeaders.has(name.toLowerCase())) throw ApiError.invalid(at, 'is set by the service itself');
    if (typeof value !== 'string' || /[\r\n]/.test(value)) {
      throw ApiError.invalid(at, 'must be a text of one line');
    }
  }
}
