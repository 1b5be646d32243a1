import { isIP } from 'node:net';
import { parseUri, type SipUri } from '../message/uri.ts';
import type { Flow, NamedBy } from '../transport/flow.ts';
import { type Protocol, TLS_PORT } from './identity.ts';

/** Where a request goes. */
export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Name that the peer's certificate must contain (RFC 5922 section 7.1). */
  readonly serverName: string;
}

/** How a request is sent: over an open connection, or over one to be opened. */
export type NextHop =
  | { readonly flow: Flow }
  | { readonly destination: Destination; readonly namedBy: NamedBy };

export type DestinationResult =
  | { readonly ok: true; readonly destination: Destination }
  | { readonly ok: false; readonly reason: string };

const NO_TRANSPORT: DestinationResult = { ok: false, reason: 'requested protocol/transport not available' };

/**
 * The destination that a URI names. Everything is TLS: `sips:` and `;transport=tls` say so explicitly, plain
 * `sip:` is treated as TLS, and `;transport=udp` and `tcp` are rejected. The transport resolves host names.
 */
export function destinationOf(text: string): DestinationResult {
  const uri = parseUri(text);
  if (!uri || uri.scheme === 'tel' || uri.host === '')
    return { ok: false, reason: `no destination in ${text}` };
  const protocol = protocolOf(uri);
  if (!protocol) return NO_TRANSPORT;
  const host = uri.params.get('maddr') ?? uri.host;
  return {
    ok: true,
    destination: { host, port: uri.port ?? TLS_PORT, protocol, serverName: uri.host },
  };
}

/**
 * The destination of a request whose next hop the application chose (a URI or `host[:port]`). When the next hop
 * is an address and the Request-URI names a domain, the peer's certificate must be for that domain.
 */
export function destinationVia(proxy: string, requestUri: string): DestinationResult {
  const result = destinationOf(proxy.includes(':') && parseUri(proxy) ? proxy : `sip:${proxy}`);
  if (!result.ok || isIP(result.destination.host) === 0) return result;
  const domain = parseUri(requestUri)?.host ?? '';
  if (domain === '' || isIP(domain) !== 0) return result;
  return { ok: true, destination: { ...result.destination, serverName: domain } };
}

function protocolOf(uri: SipUri): Protocol | null {
  const transport = uri.params.get('transport')?.toLowerCase();
  if (transport === undefined || transport === 'tls') return 'tls';
  if (transport === 'tcp' && uri.scheme === 'sips') return 'tls';
  return transport === 'ws' || transport === 'wss' ? 'wss' : null;
}
