/** Where a number's calls may be sent to by a URI or a REFER (contract section 4). Pure. */
import type { InboundTrunk, NumberConfig, OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { parseSipDestination, type SipDestination } from '#shared/sip-destination.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import type { ReferTarget } from '../call/ports/routes.ts';
import { endpointKey } from './circuit.ts';
import { bareHost } from './resolve.ts';

/** What transfers need of a number's configuration. */
export type NumberTrunks = Pick<NumberConfig, 'number' | 'outbound'> & Partial<Pick<NumberConfig, 'inbound'>>;

type Destination =
  /** E.164, an extension, or a tel URI: whatever configuration is used takes it to its own host. */
  | { readonly kind: 'dialled'; readonly user: string }
  | { readonly kind: 'uri'; readonly uri: SipDestination }
  /** A URI of another kind, or one that asks for a transport other than TLS. */
  | { readonly kind: 'unusable' };

/** @param to E.164, an extension, or a SIP or tel URI */
export function destinationOf(to: string): Destination {
  const tel = /^tel:([^;]+)/i.exec(to);
  if (tel) return { kind: 'dialled', user: (tel[1] ?? '').replace(/[-.()]/g, '') };
  if (!to.includes(':')) return { kind: 'dialled', user: to };
  if (!/^sips?:/i.test(to)) return { kind: 'unusable' };
  const uri = parseSipDestination(withoutHeaders(to));
  if (!uri || (uri.transport !== undefined && uri.transport !== 'tls')) return { kind: 'unusable' };
  return { kind: 'uri', uri };
}

/** "?" may stand in a user part, never in what follows it (RFC 3261 section 25.1). */
function withoutHeaders(uri: string): string {
  const at = uri.lastIndexOf('@');
  const question = uri.indexOf('?', at + 1);
  return question < 0 ? uri : uri.slice(0, question);
}

/** The outbound records that a call uses which came or left over `trunkId`: that one, else all. */
export function recordsFor(
  { outbound }: NumberTrunks,
  trunkId: string | null | undefined,
): readonly OutboundTrunk[] {
  const own = outbound.filter(({ id }) => id === trunkId);
  return own.length > 0 ? own : outbound;
}

/** Those of `records` one of whose endpoints the URI names; a URI without port names any port of its host. */
export function recordsAt(records: readonly OutboundTrunk[], uri: SipDestination): readonly OutboundTrunk[] {
  return records.filter(({ endpoints }) => endpoints.some((endpoint) => isAt(endpoint, uri)));
}

function isAt(endpoint: Pick<Endpoint, 'host' | 'port'>, { host, port }: SipDestination): boolean {
  return bareHost(endpoint.host) === host && (port === undefined || port === endpoint.port);
}

/** Whether a REFER of a peer to `target` stays with the configuration that its call uses. */
export function staysWith(trunks: NumberTrunks, trunkId: string | null, target: string): boolean {
  const destination = destinationOf(target);
  const records = recordsFor(trunks, trunkId);
  if (destination.kind === 'unusable') return false;
  if (destination.kind === 'dialled') return records.length > 0;
  if (recordsAt(records, destination.uri).length > 0) return true;
  const inbound = trunks.inbound?.find(({ id }) => id === trunkId);
  return inbound !== undefined && comesFrom(inbound, destination.uri);
}

/** Whether the URI names a host from which the inbound record takes calls. */
function comesFrom({ source_host, allowed_ips, registration }: InboundTrunk, uri: SipDestination): boolean {
  if (registration && isAt(registration, uri)) return true;
  const names = [source_host, ...allowed_ips].flatMap((name) => (name === null ? [] : [bareHost(name)]));
  return names.includes(uri.host);
}

/** What a REFER names for `to`; null when no configuration says at which host. */
export function referTargetOf(trunks: NumberTrunks, to: string, trunkId: string | null): ReferTarget | null {
  const destination = destinationOf(to);
  const records = recordsFor(trunks, trunkId).toSorted((one, other) => one.priority - other.priority);
  if (destination.kind === 'unusable') return null;
  if (destination.kind === 'uri') {
    const [own] = recordsAt(records, destination.uri);
    return { uri: withoutHeaders(to), headers: own?.headers ?? [] };
  }
  const user = encodeURI(destination.user).replace(/[#?]/g, encodeURIComponent);
  const own = records.find(({ id }) => id === trunkId);
  const inbound = trunks.inbound?.find(({ id }) => id === trunkId);
  if (!own && inbound) {
    const host = inbound.registration
      ? endpointKey(inbound.registration)
      : inbound.source_host && bracketed(inbound.source_host);
    // Mappings of an inbound record say what to read, not what to write.
    if (host) return { uri: overTls(`${user}@${host}`), headers: [] };
  }
  const [record] = records;
  const [endpoint] = record?.endpoints.toSorted((one, other) => one.priority - other.priority) ?? [];
  if (!record || !endpoint) return null;
  return { uri: overTls(`${user}@${endpointKey(endpoint)}`), headers: record.headers };
}

/** Endpoints take nothing but TLS; without the parameter a peer would choose UDP (RFC 3263 section 4.1). */
function overTls(address: string): string {
  return `sip:${address};transport=tls`;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
