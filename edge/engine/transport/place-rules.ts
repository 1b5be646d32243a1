/**
 * Which places a peer may name by Contact or Record-Route. Whoever's call was accepted could else let us connect to
 * every machine of our own network: such places are judged as all other targets that outsiders name. Pure.
 */
import type { BlockList } from 'node:net';
import { isSameHost } from '#shared/networks.ts';
import { judgeAddress } from '#shared/outgoing-targets.ts';
import { TransportError } from './flow.ts';

/**
 * @param name of the place, for the error
 * @param addresses all that the place has; a single one that is refused refuses it
 * @param peer the address from which the peer's messages come: it is always allowed, a PBX in our own network is
 * called back where it is
 * @param allowed private networks that the operator allows
 * @throws TransportError `not_allowed`
 */
export function checkPlace(
  name: string,
  addresses: readonly string[],
  peer: string,
  allowed: BlockList,
): void {
  for (const address of addresses) {
    if (isSameHost(address, peer)) continue;
    const verdict = judgeAddress(address, allowed);
    if (verdict.allowed) continue;
    throw new TransportError(
      'not_allowed',
      `${name}: no connection is made to a place that only a peer has named: ${verdict.reason}; the operator can allow its network with ALLOW_PRIVATE_TARGETS`,
    );
  }
}
