/** Connections to addresses that were judged (contract 1.9), and to nothing else. */
import { lookup as dnsLookup } from 'node:dns/promises';
import type { BlockList, LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { judgeAddress } from '#shared/outgoing-targets.ts';

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

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
  const [first] = addresses;
  if (!first) throw new TargetRefused(`${host} has no address`);
  for (const { address } of addresses) {
    const verdict = judgeAddress(address, allowed);
    if (!verdict.allowed) {
      throw new TargetRefused(
        `${host} must not be contacted: ${verdict.reason}; ALLOW_PRIVATE_TARGETS can allow its network`,
      );
    }
  }
  return (_hostname, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
