/** Via (RFC 3261 section 20.42, `rport` of RFC 3581). */

import { parseParameters } from './address.ts';
import { isSpace, SLASH, SPACE, skipSpace, TAB, TOKEN, trimmed } from './chars.ts';
import { parseDecimal } from './numbers.ts';
import { formatHostPort, parseHostPort } from './uri.ts';

/** The cookie that starts every RFC 3261 branch (section 8.1.1.7). */
export const BRANCH_COOKIE = 'z9hG4bK';

export interface Via {
  /** In upper case: `TLS`, `WSS`, `TCP`, `UDP` or another token. */
  readonly transport: string;
  /** Host of sent-by; IPv6 addresses without brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly branch: string | undefined;
  /** Without the brackets that some write around IPv6 addresses (RFC 5118 section 4.5). */
  readonly received: string | undefined;
  /** The port; null for `rport` without a value; undefined when it is missing. */
  readonly rport: number | null | undefined;
  /** All parameters, in order: names in lower case, values as received, null without value. */
  readonly params: ReadonlyMap<string, string | null>;
}

/** One Via value (not a list); null when malformed. */
export function parseVia(value: string): Via | null {
  const second = afterProtocolVersion(value);
  if (second === -1) return null;
  const transportStart = skipSpace(value, second + 1);
  let transportEnd = transportStart;
  while (TOKEN[value.charCodeAt(transportEnd)] === 1) transportEnd++;
  const separator = value.charCodeAt(transportEnd);
  if (transportEnd === transportStart || separator === SLASH) return null;
  if (separator !== SPACE && separator !== TAB) return null;

  const semicolon = value.indexOf(';', transportEnd);
  const hostEnd = semicolon === -1 ? value.length : semicolon;
  const sentBy = parseSentBy(trimmed(value, transportEnd, hostEnd));
  const params = parseParameters(value, hostEnd);
  if (sentBy === null || params === null) return null;

  const rport = params.get('rport');
  const received = params.get('received') ?? undefined;
  return {
    transport: upperCase(value.slice(transportStart, transportEnd)),
    host: sentBy.host,
    port: sentBy.port,
    branch: params.get('branch') ?? undefined,
    received: received?.startsWith('[') && received.endsWith(']') ? received.slice(1, -1) : received,
    rport: rport === undefined || rport === null ? rport : parseDecimal(rport, 65_535),
    params,
  };
}

/**
 * The position of the slash before the transport, or -1. sent-protocol is three tokens with slashes between, with
 * optional white space around the slashes.
 */
function afterProtocolVersion(value: string): number {
  if (value.startsWith('SIP/2.0/')) return 7;
  const first = value.indexOf('/');
  const second = value.indexOf('/', first + 1);
  if (first === -1 || second === -1) return -1;
  const written = `${trimmed(value, 0, first)}/${trimmed(value, first + 1, second)}`;
  return written.toUpperCase() === 'SIP/2.0' ? second : -1;
}

/** White space is allowed around the colon of sent-by. */
function parseSentBy(text: string): { host: string; port: number | undefined } | null {
  const colon = text.indexOf(':', text.indexOf(']') + 1);
  if (colon === -1 || !(isSpace(text.charCodeAt(colon - 1)) || isSpace(text.charCodeAt(colon + 1)))) {
    return parseHostPort(text);
  }
  return parseHostPort(`${trimmed(text, 0, colon)}:${trimmed(text, colon + 1, text.length)}`);
}

function upperCase(transport: string): string {
  return transport === 'TLS' ? transport : transport.toUpperCase();
}

/** Formats our own Via value: `SIP/2.0/TLS host:port;branch=…`. */
export function formatVia(via: {
  readonly transport: string;
  readonly host: string;
  readonly port?: number | undefined;
  readonly params: ReadonlyMap<string, string | null>;
}): string {
  let text = `SIP/2.0/${via.transport} ${formatHostPort(via.host, via.port)}`;
  for (const [name, value] of via.params) text += value === null ? `;${name}` : `;${name}=${value}`;
  return text;
}

/** Whether a branch is unique as RFC 3261 requires: more than just the cookie (RFC 4475 section 3.2.1). */
export function isMagicBranch(branch: string | undefined): branch is string {
  return branch !== undefined && branch.length > BRANCH_COOKIE.length && branch.startsWith(BRANCH_COOKIE);
}
