/** Where a number's calls may be transferred to by a URI or a REFER (contract section 4). Pure. */
import type { InboundTrunk, NumberConfig, OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { AddressSet, isSameHost } from '#shared/networks.ts';
import { parseSipDestination, type SipDestination } from '#shared/sip-destination.ts';
import { defaultTransferMode, type TransferMode } from '#shared/transfer-mode.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import { isLocalElsewhere, readingsOf } from '../call/limits-destination.ts';
import type { ReferTarget, ReferVerdict } from '../call/ports/routes.ts';
import { hostPortOf } from './circuit.ts';

/** The configuration fields of a number that transfers need. */
export type NumberTrunks = Pick<NumberConfig, 'number' | 'outbound'> &
  Partial<Pick<NumberConfig, 'inbound' | 'org_id'>>;

type Destination =
  /** E.164, an extension, or a tel URI: dialed at the host of the configuration in use. */
  | { readonly kind: 'dialled'; readonly user: string }
  | { readonly kind: 'uri'; readonly uri: SipDestination }
  /** A URI of another kind, or one that requires a transport other than TLS. */
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

/** "?" is legal in a user part, but not after it (RFC 3261 section 25.1). */
function withoutHeaders(uri: string): string {
  const at = uri.lastIndexOf('@');
  const question = uri.indexOf('?', at + 1);
  return question < 0 ? uri : uri.slice(0, question);
}

/** The outbound records for a call over `trunkId`, inbound or outbound: that record, else all. */
export function recordsFor(
  { outbound }: NumberTrunks,
  trunkId: string | null | undefined,
): readonly OutboundTrunk[] {
  const own = outbound.filter(({ id }) => id === trunkId);
  return own.length > 0 ? own : outbound;
}

/** The `records` with an endpoint that the URI names; a URI without a port matches any port of its host. */
export function recordsAt(records: readonly OutboundTrunk[], uri: SipDestination): readonly OutboundTrunk[] {
  return records.filter(({ endpoints }) => endpoints.some((endpoint) => isAt(endpoint, uri)));
}

function isAt(endpoint: Pick<Endpoint, 'host' | 'port'>, { host, port }: SipDestination): boolean {
  return isSameHost(endpoint.host, host) && (port === undefined || port === endpoint.port);
}

/** Besides the number's configuration, what decides whether a REFER is followed. */
export interface ReferContext {
  /** Our own host names: a URI there names a number or an extension to be dialed over a trunk. */
  readonly ownHosts: readonly string[];
  /** Remote address of the call. */
  readonly peer: string | null;
  /** See {@link Routes.followable}. */
  readonly joins?: boolean;
}

const refused = (reason: string): ReferVerdict => ({ allowed: false, reason });

/**
 * Whether a peer's REFER to `target` is followed. A target that uses an outbound configuration, or whose user part may
 * be a phone number, costs money and requires `enable_all`.
 */
export function referVerdict(
  trunks: NumberTrunks,
  trunkId: string | null,
  target: string,
  { ownHosts, peer, joins = false }: ReferContext,
): ReferVerdict {
  const mode = transferModeOf(trunks, trunkId);
  if (mode === 'disable_all')
    return refused('The configuration of the call does not allow transfers by REFER.');
  // Both calls are there already.
  if (joins) return { allowed: true, to: target };
  const destination = destinationOf(target);
  if (destination.kind === 'unusable')
    return refused('The target of a transfer must be a SIP URI over TLS, or a tel URI.');
  const records = recordsFor(trunks, trunkId);
  const own = destination.kind === 'uri' && ownHosts.some((host) => isSameHost(host, destination.uri.host));
  if (destination.kind === 'dialled' || own) {
    const user = destination.kind === 'dialled' ? destination.user : unescaped(destination.uri.user ?? '');
    if (user === '') return refused('The target of the transfer is our own host, without a user part.');
    if (records.length === 0) return refused('The number has no outbound configuration to call the target.');
    if (mode !== 'enable_all') return refused(costs);
    // The trunk would dial the digits alone, which is neither the number meant nor the one checked against call limits.
    if (isLocalElsewhere(target)) return refused(localElsewhere);
    return { allowed: true, to: user };
  }
  const { uri } = destination;
  const overRecord = recordsAt(records, uri).length > 0;
  const inbound = trunks.inbound?.filter(({ id }) => id === trunkId) ?? [];
  const near =
    inbound.some((record) => comesFrom(record, uri)) || (peer !== null && isSameHost(peer, uri.host));
  if (!overRecord && !near)
    return refused("The target of the transfer is at a host outside the call's configuration.");
  const free = !overRecord && readingsOf(target).length === 0;
  return free || mode === 'enable_all' ? { allowed: true, to: target } : refused(costs);
}

const localElsewhere = 'The target of the transfer is a local number (phone-context); use E.164.';
const costs =
  'The configuration of the call allows transfers by REFER to SIP users only; numbers and outbound trunks need transfer_mode enable_all.';

function transferModeOf({ inbound = [], outbound }: NumberTrunks, trunkId: string | null): TransferMode {
  const record = inbound.find(({ id }) => id === trunkId) ?? outbound.find(({ id }) => id === trunkId);
  return record?.transfer_mode ?? defaultTransferMode;
}

function unescaped(user: string): string {
  try {
    return decodeURIComponent(user.split(/[;:]/, 1)[0] ?? '');
  } catch {
    return '';
  }
}

/** Whether the URI's host is a source of the inbound record. */
function comesFrom(record: InboundTrunk, uri: SipDestination): boolean {
  const { source_host, allowed_ips, registration, digest } = record;
  // Its caller may have any address.
  if (digest) return false;
  if (registration && isAt(registration, uri)) return true;
  if (source_host !== null && isSameHost(source_host, uri.host)) return true;
  const listed = new AddressSet();
  for (const entry of allowed_ips) listed.add(entry);
  return listed.has(uri.host);
}

/** The Refer-To target for `to`; null when no configuration provides a host. */
export function referTargetOf(trunks: NumberTrunks, to: string, trunkId: string | null): ReferTarget | null {
  const destination = destinationOf(to);
  const records = recordsFor(trunks, trunkId).toSorted((one, other) => one.priority - other.priority);
  if (destination.kind === 'unusable') return null;
  // The peer decides which trunk dials it.
  if (/^tel:/i.test(to)) return { uri: to, headers: [] };
  if (destination.kind === 'uri') {
    const [own] = recordsAt(records, destination.uri);
    return { uri: withoutHeaders(to), headers: own?.headers ?? [] };
  }
  const user = encodeURI(destination.user).replace(/[#?]/g, encodeURIComponent);
  const own = records.find(({ id }) => id === trunkId);
  const inbound = trunks.inbound?.find(({ id }) => id === trunkId);
  if (!own && inbound) {
    const host = inbound.registration
      ? hostPortOf(inbound.registration)
      : inbound.source_host && bracketed(inbound.source_host);
    // Mappings of an inbound record are for reading headers, not for writing them.
    if (host) return { uri: overTls(`${user}@${host}`), headers: [] };
  }
  const [record] = records;
  const [endpoint] = record?.endpoints.toSorted((one, other) => one.priority - other.priority) ?? [];
  if (!record || !endpoint) return null;
  return { uri: overTls(`${user}@${hostPortOf(endpoint)}`), headers: record.headers };
}

/** Endpoints accept only TLS; without the parameter a peer would choose UDP (RFC 3263 section 4.1). */
function overTls(address: string): string {
  return `sip:${address};transport=tls`;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
