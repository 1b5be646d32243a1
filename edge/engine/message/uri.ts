/** SIP, SIPS and tel URIs (RFC 3261 section 19.1, RFC 3966). */
import { isIPv6 } from 'node:net';
import { isSameHost } from '#shared/networks.ts';
import { consistsOf, HOSTNAME, isDigit, lowerCase } from './chars.ts';
import { parseDecimal } from './numbers.ts';

export interface SipUri {
  readonly scheme: 'sip' | 'sips' | 'tel';
  /** As received, still escaped. The number of a tel URI. */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** IPv6 addresses without their brackets; empty in a tel URI. */
  readonly host: string;
  readonly port?: number | undefined;
  /** Names in lower case, values as received, null for a parameter without value. */
  readonly params: ReadonlyMap<string, string | null>;
  /** Headers after `?`: names in lower case, values as received. */
  readonly headers: ReadonlyMap<string, string>;
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** The scheme in lower case, or null when `text` does not begin with a scheme and a colon. */
export function schemeOf(text: string): string | null {
  if (text.startsWith('sip:') && text.length > 4) return 'sip';
  const first = text.charCodeAt(0) | 32;
  if (!(first >= 97 && first <= 122)) return null;
  for (let i = 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 58) return i === text.length - 1 ? null : lowerCase(text.slice(0, i));
    const letter = (code | 32) >= 97 && (code | 32) <= 122;
    if (!letter && !isDigit(code) && code !== 43 && code !== 45 && code !== 46) return null;
  }
  return null;
}

/** Whether requests can be sent to this scheme: sip or sips. The remainder may still be malformed. */
export function isSipUri(text: string | undefined): boolean {
  const scheme = text === undefined ? null : schemeOf(text);
  return scheme === 'sip' || scheme === 'sips';
}

/** Null when malformed, or when the scheme is not sip, sips or tel. */
export function parseUri(text: string): SipUri | null {
  const scheme = schemeOf(text);
  if (scheme === 'tel') return parseTel(text);
  if (scheme !== 'sip' && scheme !== 'sips') return null;

  const from = scheme.length + 1;
  const at = text.indexOf('@', from);
  let user: string | undefined;
  let password: string | undefined;
  if (at !== -1) {
    const colon = text.indexOf(':', from);
    const userEnd = colon !== -1 && colon < at ? colon : at;
    user = text.slice(from, userEnd);
    if (userEnd < at) password = text.slice(userEnd + 1, at);
    if (user === '' || !isPrintable(user) || (password !== undefined && !isPrintable(password))) return null;
  }

  const hostStart = at === -1 ? from : at + 1;
  const question = text.indexOf('?', hostStart);
  const end = question === -1 ? text.length : question;
  const semicolon = text.indexOf(';', hostStart);
  const hostEnd = semicolon === -1 || semicolon > end ? end : semicolon;
  const hostPort = parseHostPort(text.slice(hostStart, hostEnd));
  if (hostPort === null) return null;

  const params = hostEnd === end ? NONE : parseUriParams(text.slice(hostEnd + 1, end));
  const headers = question === -1 ? NONE : parseUriHeaders(text.slice(question + 1));
  if (params === null || headers === null) return null;
  return { scheme, user, password, host: hostPort.host, port: hostPort.port, params, headers };
}

function parseTel(text: string): SipUri | null {
  const semicolon = text.indexOf(';');
  const user = text.slice(4, semicolon === -1 ? undefined : semicolon);
  if (user === '' || !isPrintable(user) || user.includes('@')) return null;
  const params = semicolon === -1 ? NONE : parseUriParams(text.slice(semicolon + 1));
  return (
    params && { scheme: 'tel', user, password: undefined, host: '', port: undefined, params, headers: NONE }
  );
}

/**
 * Octets allowed in a user part in practice. Wider than the grammar, which requires `#` and some others to be
 * escaped: dial strings such as `*67#` arrive unescaped. White space, quotes, angle brackets and broken escapes
 * are rejected.
 */
function isPrintable(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 32 || code === 34 || code === 60 || code === 62 || code === 127) return false;
    if (code === 37 && !(isHex(text.charCodeAt(i + 1)) && isHex(text.charCodeAt(i + 2)))) return false;
  }
  return true;
}

function isHex(code: number): boolean {
  return isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102);
}

/** `host`, `host:port`, `[IPv6]` or `[IPv6]:port`; null when malformed or the port is not in 1..65535. */
export function parseHostPort(text: string): { host: string; port: number | undefined } | null {
  if (text.charCodeAt(0) === 91) {
    const close = text.indexOf(']');
    const host = close === -1 ? null : ipv6Of(text.slice(1, close));
    if (host === null) return null;
    if (close === text.length - 1) return { host, port: undefined };
    if (text.charCodeAt(close + 1) !== 58) return null;
    const port = parsePort(text.slice(close + 2));
    return port === null ? null : { host, port };
  }
  const colon = text.indexOf(':');
  const host = colon === -1 ? text : text.slice(0, colon);
  if (!consistsOf(HOSTNAME, host)) return null;
  if (colon === -1) return { host, port: undefined };
  const port = parsePort(text.slice(colon + 1));
  return port === null ? null : { host, port };
}

/**
 * The IPv6 address, or null when it is not one. Tolerates the third colon before an embedded IPv4 address, which
 * the first grammar of RFC 3261 required, and drops it (RFC 5118 section 4.10, corrected by RFC 5954).
 */
function ipv6Of(text: string): string | null {
  if (isIPv6(text)) return text;
  const corrected = text.includes('.') ? text.replace(':::', '::') : '';
  return isIPv6(corrected) ? corrected : null;
}

function parsePort(text: string): number | null {
  const port = parseDecimal(text, 65_535);
  return port === 0 ? null : port;
}

/** `a=1;b` to a map; null when a name is empty, doubled (section 19.1.1) or not printable. */
function parseUriParams(text: string): Map<string, string | null> | null {
  const params = new Map<string, string | null>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    const name = lowerCase(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? null : part.slice(equals + 1);
    if (name === '' || !isPrintable(part) || params.has(name)) return null;
    params.set(name, value);
  }
  return params;
}

function parseUriHeaders(text: string): Map<string, string> | null {
  const headers = new Map<string, string>();
  for (const part of text.split('&')) {
    const equals = part.indexOf('=');
    if (equals < 1 || !isPrintable(part)) return null;
    headers.set(part.slice(0, equals).toLowerCase(), part.slice(equals + 1));
  }
  return headers;
}

/** The URI as text, for example `sips:bob@example.com:5061;transport=tls`. */
export function formatUri(uri: {
  readonly scheme: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly host: string;
  readonly port?: number | undefined;
  readonly params?: ReadonlyMap<string, string | null>;
  readonly headers?: ReadonlyMap<string, string>;
}): string {
  let text = `${uri.scheme}:`;
  if (uri.user !== undefined) {
    text += uri.user;
    if (uri.password !== undefined) text += `:${uri.password}`;
    if (uri.scheme !== 'tel') text += '@';
  }
  text += formatHostPort(uri.host, uri.port);
  for (const [name, value] of uri.params ?? []) text += value === null ? `;${name}` : `;${name}=${value}`;
  let separator = '?';
  for (const [name, value] of uri.headers ?? []) {
    text += `${separator}${name}=${value}`;
    separator = '&';
  }
  return text;
}

/** `host:port` with brackets around an IPv6 address. */
export function formatHostPort(host: string, port?: number | undefined): string {
  const written = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? written : `${written}:${port}`;
}

/** Parameters that matter even when only one of the two URIs has them (RFC 3261 section 19.1.4). */
const DECISIVE_PARAMS = ['user', 'ttl', 'method', 'maddr', 'transport'];

/** Whether two URIs are equivalent by RFC 3261 section 19.1.4; texts that are not SIP URIs are compared as text. */
export function equalUris(a: string, b: string): boolean {
  if (a === b) return true;
  const left = parseUri(a);
  const right = parseUri(b);
  if (left === null || right === null || left.scheme !== right.scheme) return false;
  if (left.scheme === 'tel') return equalTel(left, right);
  return (
    sameUserPart(left.user, right.user) &&
    sameUserPart(left.password, right.password) &&
    isSameHost(left.host, right.host) &&
    left.port === right.port &&
    sameParams(left.params, right.params) &&
    sameHeaders(left.headers, right.headers)
  );
}

/** RFC 3966 section 4: visual separators and case are ignored. */
function equalTel(left: SipUri, right: SipUri): boolean {
  const digits = (uri: SipUri) => (uri.user ?? '').replace(/[-.()]/g, '').toLowerCase();
  if (digits(left) !== digits(right) || left.params.size !== right.params.size) return false;
  for (const [name, value] of left.params) {
    const other = right.params.get(name);
    if (other === undefined || other?.toLowerCase() !== value?.toLowerCase()) return false;
  }
  return true;
}

function sameUserPart(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return normalEscapes(a) === normalEscapes(b);
}

function sameParams(
  left: ReadonlyMap<string, string | null>,
  right: ReadonlyMap<string, string | null>,
): boolean {
  for (const name of DECISIVE_PARAMS) if (left.has(name) !== right.has(name)) return false;
  for (const [name, value] of left) {
    if (!right.has(name)) continue;
    if (normalParam(value) !== normalParam(right.get(name) ?? null)) return false;
  }
  return true;
}

function normalParam(value: string | null): string | null {
  return value === null ? null : normalEscapes(value).toLowerCase();
}

/** Headers are never ignored; their values are compared as text with normalized escapes. */
function sameHeaders(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  if (left.size !== right.size) return false;
  for (const [name, value] of left) {
    const other = right.get(name);
    if (other === undefined || normalEscapes(other) !== normalEscapes(value)) return false;
  }
  return true;
}

const RESERVED = ';/?:@&=+$,';

/** Escapes of unreserved characters are equivalent to the characters themselves (section 19.1.4). */
function normalEscapes(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-fA-F]{2})/g, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return RESERVED.includes(character) || character === '%' ? escaped.toUpperCase() : character;
  });
}

/** The unescaped text of a user part or URI header value, as octets in latin1. */
export function unescapeUri(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-fA-F]{2})/g, (_escaped, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
