/** Connections to addresses that were judged (contract 1.9), and to nothing else. */
import { lookup as dnsLookup } from 'node:dns/promises';
import type { BlockList, LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { judgeAddresses, pinnedLookup, type ResolvedAddress } from '#shared/outgoing-targets.ts';

/** All addresses of a host name. */
export type Resolver = (host: string) => Promise<readonly ResolvedAddress[]>;

export const systemResolver: Resolver = (host) => dnsLookup(host, { all: true });

/** A host that must not be contacted; the message names the address and why. */
class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/**
 * Resolves the host of `url` and judges every address it has.
 * @returns a `lookup` for node's sockets that yields exactly the judged addresses, whatever DNS says later
 * @throws TargetRefused
 */
export async function judgedLookup(url: URL, allowed: BlockList, resolve: Resolver): Promise<LookupFunction> {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  const [first, ...others] = addresses;
  if (!first) throw new TargetRefused(`${host} has no address`);
  const verdict = judgeAddresses(addresses, allowed);
  if (!verdict.allowed) {
    throw new TargetRefused(
      `${host} must not be contacted: ${verdict.reason}; ALLOW_PRIVATE_TARGETS can allow its network`,
    );
  }
  return pinnedLookup([first, ...others]);
}
