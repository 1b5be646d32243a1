/** The HTTP request of one run, built from the tool's template and the resource. */
import { isObject } from '#shared/agent/graph-problem.ts';
import { asText } from '#shared/agent/template.ts';
import { type Action, type Credentials, type Params, serviceBody } from './integrations/integration.ts';
import { type JsonValue, parseTemplate, Renderer, type Scope, TemplateError } from './template.ts';
import { isUnder, readUrlTemplate, renderUrl } from './url-template.ts';

export interface HttpCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Whether to send the resource's credentials. */
  readonly withCredentials: boolean;
}

type ServiceAction = Extract<Action, { kind: 'service' }>;

const userAgent = 'Trunkline';
const formType = 'application/x-www-form-urlencoded';

/** The request of a service's action. @throws TemplateError */
export function serviceCall(action: ServiceAction, params: Params, credentials: Credentials): HttpCall {
  const renderer = new Renderer({ inputs: params, variables: {} });
  const { request } = action;
  const url = renderUrl(templateOf(request.path), baseUrl(credentials), renderer);
  addQuery(url, renderer.tree(request.query ?? {}, 'omit'));
  const body = serviceBody(request, params, renderer);
  return {
    method: request.method,
    url,
    headers: { ...commonHeaders, ...(body !== null && jsonType), ...action.headers(credentials) },
    body,
    withCredentials: true,
  };
}

const commonHeaders = { 'user-agent': userAgent, accept: 'application/json, */*;q=0.8' };
const jsonType = { 'content-type': 'application/json' };

/**
 * The request described by a `rest_api` tool. The resource's headers are sent to its own base URL only; they override
 * those of the tool.
 * @throws TemplateError
 */
export function restCall(
  body: Readonly<Record<string, JsonValue>>,
  scope: Scope,
  credentials: Credentials | null,
): HttpCall {
  const renderer = new Renderer(scope);
  const base = credentials === null ? null : baseUrl(credentials);
  const url = renderUrl(templateOf(asText(body.url)), base, renderer);
  if (body.query !== undefined) addQuery(url, renderer.tree(body.query));
  const method = asText(body.method) || 'POST';
  const withCredentials = base !== null && isUnder(url, base);
  const own = headersOf(renderer.tree(body.headers ?? {}));
  const content = method === 'GET' ? null : contentOf(body.body, own['content-type'] ?? '', renderer);
  return {
    method,
    url,
    headers: {
      ...commonHeaders,
      ...(content && { 'content-type': content.type }),
      ...own,
      ...(withCredentials && headersOf(credentials?.headers)),
    },
    body: content?.text ?? null,
    withCredentials,
  };
}

/** The same for the same request, whatever the credentials. */
export function fingerprint({ method, url, body }: HttpCall): string {
  return JSON.stringify([method, url.href, body]);
}

function templateOf(url: string) {
  const template = readUrlTemplate(url);
  if ('problem' in template) throw new TemplateError(`the URL ${template.problem}`);
  return template;
}

function baseUrl(credentials: Credentials): URL | null {
  const { base_url } = credentials;
  return typeof base_url === 'string' && URL.canParse(base_url) ? new URL(base_url) : null;
}

function addQuery(url: URL, query: JsonValue): void {
  if (!isObject(query)) return;
  for (const [name, value] of Object.entries(query)) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (one !== null && one !== undefined) url.searchParams.append(name, asText(one).toWellFormed());
    }
  }
}

/** Names in lower case, so that the later of two spellings wins. */
function headersOf(headers: unknown): Record<string, string> {
  if (!isObject(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), asText(value)]),
  );
}

/** The body: JSON, a form, or text, by the template's form and content type. */
function contentOf(
  body: JsonValue | undefined,
  type: string,
  renderer: Renderer,
): { readonly type: string; readonly text: string } | null {
  if (body === undefined || body === null) return null;
  const isForm = type.toLowerCase().startsWith(formType);
  const parsed = typeof body === 'string' ? parseTemplate(body) : body;
  if (typeof body === 'string' && (typeof parsed !== 'object' || parsed === null)) {
    return textContent(body, isForm, renderer);
  }
  const tree = renderer.tree(parsed ?? null);
  if (isForm && isObject(tree)) {
    const url = new URL('http://form');
    addQuery(url, tree);
    return { type: formType, text: url.searchParams.toString() };
  }
  return { type: jsonType['content-type'], text: JSON.stringify(tree) };
}

function textContent(body: string, isForm: boolean, renderer: Renderer) {
  if (isForm) {
    return {
      type: formType,
      text: renderer.text(body, (value) => encodeURIComponent(value.toWellFormed())),
    };
  }
  const value = renderer.tree(body);
  if (typeof value === 'string') return { type: 'text/plain; charset=utf-8', text: value };
  return { type: jsonType['content-type'], text: JSON.stringify(value) };
}
