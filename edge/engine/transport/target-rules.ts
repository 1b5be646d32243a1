/**
 * Which targets a peer may name by Contact or Record-Route. Otherwise any accepted caller could make us connect
 * to every machine in our own network. The same rules apply as for other targets that outsiders name. Pure.
 */
import type { BlockList } from 'node:net';
import { judgeAddresses } from '#shared/judged-lookup.ts';
import { isSameHost } from '#shared/networks.ts';
import { TransportError } from './flow.ts';

/**
 * @param name of the target, for the error
 * @param addresses all addresses of the target; one forbidden address rejects it
 * @param peer the address from which the peer's messages come: always allowed, as a PBX in our own network is
 * called back at its own address
 * @param allowed private networks that the operator allows
 * @throws TransportError `not_allowed`
 */
export function checkTarget(
  name: string,
  addresses: readonly string[],
  peer: string,
  allowed: BlockList,
): void {
  const others = addresses.filter((address) => !isSameHost(address, peer));
  const [refusal] = judgeAddresses(others, allowed).refusals;
  if (refusal === undefined) return;
  throw new TransportError(
    'not_allowed',
    `${name}: not connected, the target was named by a peer: ${refusal}; to allow its network, set ALLOW_PRIVATE_TARGETS`,
  );
}
