/** Reads the direction objects of attach and update: rules that a schema cannot express (contract 2.3 and 2.8). */

import type { BlockList } from 'node:net';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import type { Attach } from '#shared/api/sip.ts';
import type { InboundDirection, OutboundDirection } from '#shared/api/sip-directions.ts';
import { counted } from '#shared/counted.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import { ApiError } from '#shared/errors.ts';
import { isNetwork } from '#shared/networks.ts';
import { parseSipDestination, type SipDestination } from '#shared/sip-destination.ts';
import { secretMask } from '../http/index.ts';

export type Direction = InboundDirection | OutboundDirection;
/** A direction object with a parsed `sip_endpoint`. */
export interface DirectionEntry {
  readonly path: string;
  readonly given: Direction;
  readonly endpoint: SipDestination | null;
}

/** Applies the request's defaults to its entries; a bare string means an object of that type. */
export function attachEntries(body: Attach): DirectionEntry[] {
  const entries = body.directions.map((direction, index) => {
    const given: Direction = typeof direction === 'string' ? { type: direction } : direction;
    return readDirection(withDefaults(given, body), `/directions/${index}`);
  });
  requireOwnUserNames(entries);
  return entries;
}

/** A user name is one configuration: the second entry would replace the first one, and lock its PBX out. */
function requireOwnUserNames(entries: readonly DirectionEntry[]): void {
  const taken = new Map<string, string>();
  for (const { given, path } of entries) {
    if (given.type !== 'inbound' || given.auth_mode !== 'digest' || !given.digest_auth) continue;
    const { username } = given.digest_auth;
    const other = taken.get(username);
    if (other !== undefined)
      throw ApiError.invalid(
        `${path}/digest_auth/username`,
        `must differ from that of ${other}: give each PBX a user name of its own`,
      );
    taken.set(username, path);
  }
}

function withDefaults(given: Direction, body: Attach): Direction {
  if (given.type === 'outbound') {
    return {
      ...(body.sip_endpoint !== undefined && { sip_endpoint: body.sip_endpoint }),
      ...(body.options !== undefined && { options: body.options }),
      ...given,
    };
  }
  const auth_mode = given.auth_mode ?? body.auth_mode ?? 'ip';
  const { register_auth, digest_auth } = body;
  const registers = auth_mode === 'register' && register_auth !== undefined;
  const challenges = auth_mode === 'digest' && digest_auth !== undefined;
  return { auth_mode, ...(registers && { register_auth }), ...(challenges && { digest_auth }), ...given };
}

/**
 * Validates one entry on its own.
 * @throws ApiError TRANSPORT_NOT_ALLOWED, SECURE_MEDIA_REQUIRED, INVALID_SIP_ENDPOINT, INVALID_PARAMETER
 */
export function readDirection(given: Direction, path: string): DirectionEntry {
  const { options } = given;
  if (options?.transport !== undefined && options.transport !== 'tls') {
    throw ApiError.of('TRANSPORT_NOT_ALLOWED', { path: `${path}/options/transport` });
  }
  if (options?.secure_media === false) {
    throw ApiError.of('SECURE_MEDIA_REQUIRED', { path: `${path}/options/secure_media` });
  }
  const endpoint = typeof given.sip_endpoint === 'string' ? readEndpoint(given.sip_endpoint, path) : null;
  if (endpoint?.port !== undefined && options?.port !== undefined && endpoint.port !== options.port) {
    throw ApiError.invalid(`${path}/options/port`, 'must equal the port of sip_endpoint');
  }
  if (given.type === 'inbound') checkDigestPassword(given, path);
  if (options && 'allowed_ips' in options) checkAllowedIps(options.allowed_ips ?? [], path);
  checkHeaders(given.headers?.headers ?? [], given.type, path);
  return { path, given, endpoint };
}

function readEndpoint(text: string, path: string): SipDestination {
  const endpoint = parseSipDestination(text);
  const details = { path: `${path}/sip_endpoint` };
  if (!endpoint) throw ApiError.of('INVALID_SIP_ENDPOINT', details);
  if (endpoint.transport === 'udp' || endpoint.transport === 'tcp') {
    throw ApiError.of('TRANSPORT_NOT_ALLOWED', details);
  }
  return endpoint;
}

/** Anyone can try it, unlike that of a registration. */
const shortestPassword = 12;

function checkDigestPassword({ digest_auth }: InboundDirection, path: string): void {
  if (digest_auth === undefined || digest_auth.password === secretMask) return;
  if (digest_auth.password.length >= shortestPassword) return;
  throw ApiError.invalid(
    `${path}/digest_auth/password`,
    `must have at least ${counted(shortestPassword, 'character')}`,
  );
}

function checkAllowedIps(entries: readonly string[], path: string): void {
  entries.forEach((entry, index) => {
    if (isNetwork(entry)) return;
    throw ApiError.invalid(`${path}/options/allowed_ips/${index}`, 'must be an IP address or a CIDR block');
  });
}

/** RFC 3261 section 25.1: token. */
const headerName = /^[A-Za-z0-9\-.!%*_+`'~]{1,64}$/;
/** Headers that the SIP stack writes itself (contract 2.8). */
const stackHeaders: ReadonlySet<string> = new Set([
  'via',
  'from',
  'to',
  'contact',
  'call-id',
  'cseq',
  'max-forwards',
  'route',
  'record-route',
  'content-type',
  'content-length',
  'authorization',
  'proxy-authorization',
]);

function checkHeaders(items: readonly HeaderMapping[], direction: Direction['type'], path: string): void {
  const [first, ...others] = items.flatMap((item, index) => {
    const member = headerMember(item, direction);
    if (item.type === 'uui' || member === null) return [];
    const problem = headerProblem(item[member], direction);
    if (problem === null) return [];
    return ApiError.invalid(`${path}/headers/headers/${index}/${member}`, problem).items;
  });
  if (first) throw ApiError.many([first, ...others]);
}

function headerProblem(name: string, direction: Direction['type']): string | null {
  if (!headerName.test(name)) return 'must be a SIP header name of 1 to 64 characters';
  if (direction === 'outbound' && stackHeaders.has(name.toLowerCase()))
    return 'is a header that the SIP stack writes itself';
  return null;
}

/** Which member of a mapping is the SIP header; the other one is a variable or a literal. */
function headerMember(item: HeaderMapping, direction: Direction['type']): 'key' | 'value' | null {
  if (item.type === 'uui') return null;
  if (item.passthrough === true) return direction === 'outbound' ? 'key' : null;
  return direction === 'outbound' ? 'value' : 'key';
}

/**
 * Checks literal addresses that the service would contact (contract 1.9). Names are checked at use.
 * @throws ApiError TARGET_NOT_ALLOWED
 */
export function checkTarget(entry: DirectionEntry, allowedNetworks: BlockList): void {
  if (!entry.endpoint) return;
  requireAllowedHost(entry.endpoint.host, `${entry.path}/sip_endpoint`, allowedNetworks);
}
