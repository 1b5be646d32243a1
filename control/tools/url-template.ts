/** URLs of tools: references may be anywhere but in the scheme and host (contract 8.3). */
import { type Renderer, TemplateError } from './template.ts';

/** A parsed URL template; `origin` is null for a path under the base URL of a resource. */
export interface UrlTemplate {
  readonly origin: string | null;
  /** path, query */
  readonly rest: string;
}

const absolute = /^(https?:\/\/[^/?#\\\s{}@]+)([/?#][^\\]*)?$/i;
const underBase = /^\/[^\\]*$/;

/** Parses a URL template, or returns its problem. */
export function readUrlTemplate(text: string): UrlTemplate | { readonly problem: string } {
  const [, origin, rest = ''] = absolute.exec(text) ?? [];
  if (origin !== undefined) {
    const url = URL.canParse(origin) ? new URL(origin) : null;
    return url ? { origin: url.origin, rest } : { problem: 'is not a URL' };
  }
  if (underBase.test(text)) return { origin: null, rest: text };
  if (/^[^/?#]*(?:\/\/[^/?#]*)?\{\{/.test(text)) {
    return { problem: 'references are not allowed in the scheme and host of a URL' };
  }
  return { problem: 'must be an http or https URL without user information, or a path that starts with /' };
}

/**
 * Fills in a URL. Every value is percent-encoded, so it adds no path segment, parameter or fragment.
 * @param base base URL of paths; null: only absolute URLs can be filled in
 * @throws TemplateError when a value would change where the URL leads
 */
export function renderUrl(template: UrlTemplate, base: URL | null, renderer: Renderer): URL {
  const rest = renderer.text(template.rest, (value) => encodeURIComponent(value.toWellFormed()));
  const path = rest.split(/[?#]/, 1)[0] ?? '';
  if (path.split('/').some(isDotSegment))
    throw new TemplateError('the path of the URL must not contain . or ..');
  if (template.origin !== null) return new URL(template.origin + rest);
  if (base === null)
    throw new TemplateError('the URL is a path, and the tool has no resource with a base_url');
  return new URL(base.origin + base.pathname.replace(/\/+$/, '') + rest);
}

/** Whether `url` is the base URL or under it: where a resource's headers may be sent. */
export function isUnder(url: URL, base: URL): boolean {
  const folder = `${base.pathname.replace(/\/+$/, '')}/`;
  return url.origin === base.origin && `${url.pathname}/`.startsWith(folder);
}

/** RFC 3986 section 5.2.4; URL parsers also treat %2e as a dot. */
function isDotSegment(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment);
}
