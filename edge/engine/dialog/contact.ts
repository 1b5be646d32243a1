import { BlockList, isIP } from 'node:net';
import { plainAddress } from '#shared/networks.ts';
import { parseUri } from '../message/uri.ts';

/** Where a dialog's messages come from. */
export interface Source {
  readonly address: string;
  readonly port: number;
}

/**
 * Whether the peer's Contact is unreachable because of a NAT: its host is an address other than the one the peer
 * sends from. Later requests then go to the source of the peer's messages. A host name is trusted, and so is a
 * public address when the peer sends from another public one (a carrier that signals from several machines).
 */
export function isBehindNat(contact: string, source: Source): boolean {
  const host = plainAddress(parseUri(contact)?.host ?? '');
  if (isIP(host) === 0 || host === plainAddress(source.address)) return false;
  return isPrivate(host);
}

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['127.0.0.0', 8],
  ['192.0.2.0', 24],
  ['0.0.0.0', 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, 'ipv4');
}
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');
PRIVATE.addAddress('::1', 'ipv6');

/** Addresses that are not valid outside their own network (RFC 1918, 6598, 3927, 5737, 4193). */
function isPrivate(host: string): boolean {
  return PRIVATE.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}
