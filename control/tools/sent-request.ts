/** The HTTP request of a run as its customer sees it when trying a tool: without the resource's credentials. */
import { isObject } from '#shared/agent/graph-problem.ts';
import { secretMask } from '../http/index.ts';
import type { HttpCall } from './http-call.ts';
import type { Credentials } from './integrations/integration.ts';

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  /** Whether a part was too long to be shown as a whole. */
  readonly cut: boolean;
}

/** Characters of the URL, of the body and of each header. */
const mostShown = 20_000;
/** A shorter value is found by chance in other text. */
const shortestSecret = 6;

/** @param credentials of the resource; null: none are sent */
export function sentRequest(call: HttpCall, credentials: Credentials | null): SentRequest {
  const hide = hiding(credentials);
  let cut = false;
  const shown = (text: string) => {
    const hidden = hide(text);
    if (hidden.length <= mostShown) return hidden;
    cut = true;
    return hidden.slice(0, mostShown);
  };
  const secretHeaders = new Set(headerNames(credentials));
  const headers = Object.entries(call.headers).map(([name, value]) => [
    name,
    secretHeaders.has(name) ? secretMask : shown(value),
  ]);
  const url = shown(call.url.href);
  const body = call.body === null ? null : shown(call.body);
  return { method: call.method, url, headers: Object.fromEntries(headers), body, cut };
}

/** Headers that the resource gives are secret as a whole, also when they are short. */
function headerNames(credentials: Credentials | null): string[] {
  const { headers } = credentials ?? {};
  return isObject(headers) ? Object.keys(headers).map((name) => name.toLowerCase()) : [];
}

/** Replaces each secret wherever it is: in a URL, in JSON, and as it is. Longest first: one may be part of another. */
function hiding(credentials: Credentials | null): (text: string) => string {
  const { base_url: _public, headers, ...texts } = credentials ?? {};
  const values = [...Object.values(texts), ...(isObject(headers) ? Object.values(headers) : [])];
  const secrets = values
    .filter((value) => typeof value === 'string')
    .flatMap((value) => [value, ...withoutScheme(value)])
    .filter((value) => value.length >= shortestSecret)
    .flatMap((value) => [
      value,
      encodeURIComponent(value.toWellFormed()),
      new URLSearchParams({ v: value.toWellFormed() }).toString().slice(2),
      JSON.stringify(value).slice(1, -1),
    ])
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, secretMask), text);
}

/** `Bearer abc` has the secret `abc`, which a template may have elsewhere (RFC 9110 section 11.4). */
function withoutScheme(value: string): string[] {
  const [, rest] = /^[A-Za-z]+ +(\S.*)$/.exec(value) ?? [];
  return rest === undefined ? [] : [rest];
}
