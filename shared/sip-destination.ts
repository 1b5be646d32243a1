/** Parses destinations of the contract's section 2.7: a host, a `tls://` shorthand or a SIP URI (RFC 3261, 19.1). */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { plainAddress } from '#shared/networks.ts';
import { judgeAddress, parseNetworks } from '#shared/outgoing-targets.ts';

export type SipTransport = 'udp' | 'tcp' | 'tls';

export interface SipDestination {
  /** Lower case; an IPv6 address without brackets. */
  readonly host: string;
  readonly port?: number;
  readonly user?: string;
  /** Only when the text has it, as scheme or parameter. */
  readonly transport?: SipTransport;
  /** A literal address that the service does not contact (contract 1.9). */
  readonly isPrivateIp: boolean;
  /** `sip:[user@]host:port;transport=t` with the defaults filled in. */
  readonly normalized: string;
}

const noExceptions = parseNetworks([]);
const domainLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** user of RFC 3261 section 25.1: unreserved, escaped, user-unreserved. */
const userForm = /^(?:[A-Za-z0-9\-_.!~*'()&=+$,;?/]|%[0-9A-Fa-f]{2})+$/;
const parameterForm = /^[^\s;=@?]+(=[^\s;=@?]*)?$/;

/** Parses `text`; null when it is not a destination. Surrounding blanks are ignored, inner ones are not allowed. */
export function parseSipDestination(text: string): SipDestination | null {
  const trimmed = text.trim();
  const [scheme, rest] = splitScheme(trimmed);
  if (scheme === 'sip' || scheme === 'sips') return parseUri(rest, scheme === 'sips');
  const address = parseHostPort(rest);
  return address && destination({ ...address, ...(scheme && { transport: scheme }) });
}

function splitScheme(text: string): [SipTransport | 'sip' | 'sips' | undefined, string] {
  const match = /^(?:(udp|tcp|tls):\/\/|(sips?):)/i.exec(text);
  if (!match) return [undefined, text];
  const scheme = (match[1] ?? match[2] ?? '').toLowerCase();
  const rest = text.slice(match[0].length);
  return scheme === 'sip' || scheme === 'sips' ? [scheme, rest] : [asTransport(scheme), rest];
}

function asTransport(text: string): SipTransport | undefined {
  return text === 'udp' || text === 'tcp' || text === 'tls' ? text : undefined;
}

function parseUri(rest: string, secure: boolean): SipDestination | null {
  // Parameters cannot contain "@", so the last one ends the user part, which may contain ";" and "?".
  const at = rest.lastIndexOf('@');
  const user = at < 0 ? undefined : rest.slice(0, at);
  if (user !== undefined && !userForm.test(user)) return null;
  const [hostPort = '', ...parameters] = rest.slice(at + 1).split(';');
  const address = parseHostPort(hostPort);
  if (!address) return null;
  const stated = transportParameter(parameters);
  if (stated === null) return null;
  // RFC 3261 section 26.2.2: sips is TLS on a stream; "transport=tcp" there names the stream below TLS.
  if (secure && stated === 'udp') return null;
  const transport = secure ? 'tls' : stated;
  return destination({ ...address, ...(user !== undefined && { user }), ...(transport && { transport }) });
}

/** The transport in the parameters, undefined when there is none, null when one is malformed. */
function transportParameter(parameters: readonly string[]): SipTransport | undefined | null {
  let found: SipTransport | undefined;
  for (const parameter of parameters) {
    if (!parameterForm.test(parameter)) return null;
    const [name = '', value = ''] = parameter.split('=');
    if (name.toLowerCase() !== 'transport') continue;
    const transport = asTransport(value.toLowerCase());
    if (!transport || found) return null;
    found = transport;
  }
  return found;
}

function parseHostPort(text: string): { host: string; port?: number } | null {
  const bracket = text.startsWith('[') ? text.indexOf(']') : -1;
  if (text.startsWith('[') && bracket < 0) return null;
  const colon = text.indexOf(':', bracket + 1);
  const hostText = colon < 0 ? text : text.slice(0, colon);
  const host = parseHost(hostText);
  if (host === null) return null;
  if (colon < 0) return { host };
  const digits = text.slice(colon + 1);
  const port = /^[0-9]{1,5}$/.test(digits) ? Number(digits) : 0;
  return port >= 1 && port <= 65535 ? { host, port } : null;
}

function parseHost(text: string): string | null {
  if (text.startsWith('[')) {
    const address = text.slice(1, -1);
    const valid = text.endsWith(']') && isIPv6(address) && !address.includes('%');
    return valid ? plainAddress(address) : null;
  }
  if (isIPv4(text)) return text;
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  const labels = name.split('.');
  // RFC 3261 section 25.1: the last label starts with a letter, which excludes forms such as "127.1".
  const valid = name.length <= 253 && labels.every((label) => domainLabel.test(label));
  return valid && /^[a-z]/.test(labels.at(-1) ?? '') ? name : null;
}

function destination(parts: Omit<SipDestination, 'isPrivateIp' | 'normalized'>): SipDestination {
  const transport = parts.transport ?? 'tls';
  const port = parts.port ?? (transport === 'tls' ? 5061 : 5060);
  const host = parts.host.includes(':') ? `[${parts.host}]` : parts.host;
  const user = parts.user === undefined ? '' : `${parts.user}@`;
  return {
    ...parts,
    isPrivateIp: isIP(parts.host) !== 0 && !judgeAddress(parts.host, noExceptions).allowed,
    normalized: `sip:${user}${host}:${port};transport=${transport}`,
  };
}
