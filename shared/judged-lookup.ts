/**
 * The one look-up of a host for a connection: resolves the name and judges every address (contract 1.9). The caller
 * connects to one of the allowed addresses, never to the name, so a name that resolves differently a moment later (DNS
 * rebinding) gains nothing.
 */
import { lookup } from 'node:dns/promises';
import { type BlockList, isIP } from 'node:net';
import { judgeAddress } from './outgoing-targets.ts';

/** All addresses of a host name, in the order in which to try them. Rejects, or resolves with none, without any. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/**
 * getaddrinfo: what the machine's nsswitch.conf says, usually /etc/hosts, then the name servers and search domains of
 * /etc/resolv.conf. It knows no TTL, and keeps one of few threads busy while name servers are silent.
 */
export const systemAddresses: ResolveHost = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export interface JudgedHost {
  /** Allowed addresses, in the order of the resolver. */
  readonly addresses: readonly string[];
  /** Why the others must not be contacted, each reason once. */
  readonly refusals: readonly string[];
}

/**
 * @param host a name or an address, without brackets
 * @param allowed networks that may be contacted although they are otherwise forbidden; null: every address may be
 * @returns neither addresses nor refusals when the host has no address
 * @throws what `resolve` throws
 */
export async function judgedLookup(
  host: string,
  resolve: ResolveHost,
  allowed: BlockList | null,
): Promise<JudgedHost> {
  const found = isIP(host) === 0 ? await resolve(host) : [host];
  return allowed === null ? { addresses: found, refusals: [] } : judgeAddresses(found, allowed);
}

/** The same for addresses that are known already. */
export function judgeAddresses(found: readonly string[], allowed: BlockList): JudgedHost {
  const addresses: string[] = [];
  const refusals = new Set<string>();
  for (const address of found) {
    const verdict = judgeAddress(address, allowed);
    if (verdict.allowed) addresses.push(address);
    else refusals.add(verdict.reason);
  }
  return { addresses, refusals: [...refusals] };
}
